//! In which order ports and subsets stand: in that of the hashes of Go's dump of them.
//!
//! Upstream: pkg/api/v1/endpoints, SortSubsets; endpointslice/util, NewPortMapKey; k8s.io/utils/dump, ForHash (v1.37).

use kubestep_model::arrange::Arrange;
use kubestep_model::{
    CoreEndpointPort, EndpointAddress, EndpointPort, EndpointSubset, ObjectReference, Shared,
    text::hash::fnv128a,
};

/// The ports of a slice in their order.
pub(crate) fn slice_ports(ports: &mut [EndpointPort]) {
    ports.arrange_by_key(|port| fnv128a(slice_port(port).as_bytes()));
}

fn slice_port(port: &EndpointPort) -> String {
    format!(
        "(v1.EndpointPort){{Name:(*string){} Protocol:(*v1.Protocol){} Port:(*int32){} AppProtocol:(*string){}}}",
        or_nil(port.name.as_deref()),
        or_nil(port.protocol.as_deref()),
        or_nil(port.port.map(|number| number.to_string()).as_deref()),
        or_nil(port.app_protocol.as_deref()),
    )
}

/// The ports of each subset, and the subsets, in their order; addresses are in theirs.
pub(super) fn subsets(subsets: &mut [EndpointSubset]) {
    for subset in &mut *subsets {
        subset
            .ports
            .arrange_by_key(|port| fnv128a(format!("(v1.EndpointPort){}", core_port(port)).as_bytes()));
    }
    subsets.arrange_by_key(|subset| fnv128a(subset_text(subset).as_bytes()));
}

fn subset_text(subset: &EndpointSubset) -> String {
    let ports: Vec<String> = subset.ports.iter().map(core_port).collect();
    format!(
        "(v1.EndpointSubset){{Addresses:([]v1.EndpointAddress){} NotReadyAddresses:([]v1.EndpointAddress){} \
         Ports:([]v1.EndpointPort){}}}",
        addresses(&subset.addresses),
        addresses(&subset.not_ready_addresses),
        list(&ports),
    )
}

fn core_port(port: &CoreEndpointPort) -> String {
    format!(
        "{{Name:(string){} Port:(int32){} Protocol:(v1.Protocol){} AppProtocol:(*string){}}}",
        port.name,
        port.port,
        port.protocol,
        or_nil(port.app_protocol.as_deref()),
    )
}

fn addresses(all: &[Shared<EndpointAddress>]) -> String {
    let all: Vec<String> = all.iter().map(|of| address(of)).collect();
    list(&all)
}

fn address(of: &EndpointAddress) -> String {
    let target = of.target_ref.as_ref().map(reference);
    format!(
        "{{IP:(string){} Hostname:(string){} NodeName:(*string){} TargetRef:(*v1.ObjectReference){}}}",
        of.ip,
        of.hostname,
        or_nil(of.node_name.as_deref()),
        or_nil(target.as_deref()),
    )
}

fn reference(to: &ObjectReference) -> String {
    format!(
        "{{Kind:(string){} Namespace:(string){} Name:(string){} UID:(types.UID){} APIVersion:(string){} \
         ResourceVersion:(string){} FieldPath:(string){}}}",
        to.kind, to.namespace, to.name, to.uid, to.api_version, to.resource_version, to.field_path,
    )
}

fn list(items: &[String]) -> String {
    if items.is_empty() { "<nil>".to_owned() } else { format!("[{}]", items.join(" ")) }
}

fn or_nil(text: Option<&str>) -> &str {
    text.unwrap_or("<nil>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_stand_as_upstreams_do() {
        let of = |(name, port): (&str, i32)| EndpointPort {
            name: Some(name.to_owned()),
            protocol: Some("TCP".to_owned()),
            port: Some(port),
            ..EndpointPort::default()
        };
        for (given, sorted) in [
            ([("http", 80), ("admin", 9000)], [("admin", 9000), ("http", 80)]),
            ([("a", 80), ("b", 8081)], [("b", 8081), ("a", 80)]),
            ([("metrics", 9090), ("http", 8080)], [("http", 8080), ("metrics", 9090)]),
        ] {
            let mut ports = given.map(of);
            slice_ports(&mut ports);
            assert_eq!(ports, sorted.map(of));
        }
    }

    #[test]
    fn a_subset_is_written_whole() {
        let port = CoreEndpointPort { port: 80, protocol: "TCP".to_owned(), ..CoreEndpointPort::default() };
        let ready = EndpointAddress {
            ip: "10.0.0.1".into(),
            node_name: Some("n".into()),
            ..EndpointAddress::default()
        };
        let subset =
            EndpointSubset { addresses: vec![ready.into()], ports: vec![port], ..EndpointSubset::default() };
        assert_eq!(
            subset_text(&subset),
            "(v1.EndpointSubset){Addresses:([]v1.EndpointAddress)[{IP:(string)10.0.0.1 Hostname:(string) \
             NodeName:(*string)n TargetRef:(*v1.ObjectReference)<nil>}] \
             NotReadyAddresses:([]v1.EndpointAddress)<nil> \
             Ports:([]v1.EndpointPort)[{Name:(string) Port:(int32)80 Protocol:(v1.Protocol)TCP AppProtocol:(*string)<nil>}]}"
        );
    }
}
