//! Where everything stands on the board: a line per owner, a column per node, and how the Services' wires run.
//! Pure: a frame in, a plan out.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubestep_protocol::*;

use crate::state::{Ghosts, Item};

/// Kinds that are there in every cluster and about which there is seldom anything to see.
const QUIET: &[&str] = &[
    "Namespace",
    "ServiceAccount",
    "ConfigMap",
    "Secret",
    "Lease",
    "Endpoints",
    "EndpointSlice",
    "ControllerRevision",
    "PriorityClass",
    "StorageClass",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
];
/// How many Services have wires of their own; more would be a braid.
const WIRES: usize = 3;

/// More nodes than these share columns, so many columns.
const MOST_NODES: usize = 80;
const COLUMNS: usize = 20;
/// The states of a node, from [`NodeLook::Ready`] to [`NodeLook::Removed`].
const STATES: u8 = NodeLook::Removed as u8 + 1;

/// How a pod is drawn, by the fullest cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Density {
    /// A card: container, suffix, state in words.
    #[default]
    Card,
    /// A square of 14 px.
    Square,
    /// A mosaic of 9 px.
    Mosaic,
    /// A mosaic of 4 px.
    Grain,
}

/// A piece of a Service's wire in one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// It begins here, at the Service.
    From,
    /// It goes through.
    Through,
    /// It ends here, at its last pod.
    To,
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Pods, in order of creation; in a crowd by state.
    pub pods: Vec<Arc<Pod>>,
    /// What a Service's slices say of this node.
    pub members: Option<Members>,
    /// Wires, by the Service's place.
    pub wires: Vec<(usize, Wire)>,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The owner; `None`: pods that nobody owns.
    pub row: Option<Arc<Row>>,
    /// 1 or 2.
    pub depth: u8,
    /// A sibling follows below.
    pub more: bool,
    /// Lines below it that can be folded.
    pub children: usize,
    /// They are folded.
    pub folded: bool,
    /// First the pods without a node, then one for each node.
    pub cells: Vec<Cell>,
}

/// The whole board.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Columns: a node each, or what several nodes of one state are together.
    pub nodes: Vec<Arc<Node>>,
    /// How many nodes each column stands for.
    pub sizes: Vec<usize>,
    /// Lines from above.
    pub lines: Vec<Line>,
    /// How pods are drawn.
    pub density: Density,
    /// Pods without a node.
    pub unscheduled: usize,
    /// Rows of quiet kinds that are not shown.
    pub others: usize,
}

/// Plans the board. `before` is the density so far, which changes only with some slack.
pub fn plan(frame: &Frame, ghosts: &Ghosts, folded: &[Id], others: bool, before: Density) -> Plan {
    let mut rows: Vec<&Arc<Row>> = frame.rows.iter().chain(&ghosts.rows).collect();
    rows.sort_by_key(|r| (r.selector.is_none() || r.object.kind != "Service", r.id));
    let pods: Vec<&Arc<Pod>> = frame.pods.iter().chain(&ghosts.pods).collect();
    let quiet = |r: &Row| QUIET.contains(&r.object.kind.as_str()) && r.gap.is_none();
    let hidden = rows.iter().filter(|r| quiet(r)).count();
    rows.retain(|r| others || !quiet(r));

    let ids: Vec<Id> = rows.iter().map(|r| r.id).collect();
    let shown_owner = |owner: Option<Id>| owner.filter(|o| ids.contains(o));
    let mut below: BTreeMap<Option<Id>, Vec<&Arc<Row>>> = BTreeMap::new();
    for row in &rows {
        below.entry(shown_owner(row.owner)).or_default().push(row);
    }
    let mut lines = Vec::new();
    let mut open: Vec<(&Arc<Row>, u8, bool)> = Vec::new();
    let push_all = |open: &mut Vec<_>, owner: Option<Id>, depth: u8| {
        let list = below.get(&owner).map(Vec::as_slice).unwrap_or_default();
        for (i, row) in list.iter().enumerate().rev() {
            open.push((*row, depth, depth > 1 && i + 1 < list.len()));
        }
    };
    push_all(&mut open, None, 1);
    // A row that owns itself in a circle is never reached, and each row is reached once: the walk ends.
    while let Some((row, depth, more)) = open.pop() {
        let is_folded = folded.contains(&row.id);
        let children = below.get(&Some(row.id)).map_or(0, Vec::len);
        lines.push(Line {
            row: Some(row.clone()),
            depth,
            more,
            children,
            folded: is_folded,
            cells: Vec::new(),
        });
        if !is_folded {
            push_all(&mut open, Some(row.id), 2);
        }
    }
    let mut plan = Plan { lines, others: hidden, ..Plan::default() };
    let places = plan.columns(&frame.nodes);
    plan.fill(&pods, &ids, &places);
    plan.choose_density(before);
    plan.wire();
    plan
}

/// A column for one more node.
fn joined(column: &Node, size: usize, node: &Node) -> Node {
    let first = column.name.split('…').next().unwrap_or_default();
    let mean = |all: u16, one: u16| {
        u16::try_from((usize::from(all) * size + usize::from(one)) / (size + 1)).unwrap_or(u16::MAX)
    };
    Node {
        name: format!("{first}…{}", node.name),
        pods: column.pods + node.pods,
        cpu: mean(column.cpu, node.cpu),
        memory: mean(column.memory, node.memory),
        room: String::new(),
        ..column.clone()
    }
}

impl Plan {
    /// A column for each node; of very many nodes, those of one state share some. Answers the column of each node.
    fn columns(&mut self, nodes: &[Arc<Node>]) -> Vec<(Id, usize)> {
        let many = if nodes.len() > MOST_NODES { nodes.len().div_ceil(COLUMNS) } else { 1 };
        let mut places = Vec::new();
        // State by state only where they share.
        for turn in 0..if many > 1 { STATES } else { 1 } {
            for node in nodes.iter().filter(|n| many == 1 || n.look as u8 == turn) {
                match (self.nodes.last_mut(), self.sizes.last_mut()) {
                    (Some(column), Some(size)) if column.look == node.look && *size < many => {
                        *column = Arc::new(joined(column, *size, node));
                        *size += 1;
                    }
                    _ => {
                        self.nodes.push(node.clone());
                        self.sizes.push(1);
                    }
                }
                places.push((node.id, self.nodes.len()));
            }
        }
        places
    }

    /// Puts every pod into its cell.
    fn fill(&mut self, pods: &[&Arc<Pod>], owners: &[Id], places: &[(Id, usize)]) {
        let columns = self.nodes.len() + 1;
        let column_of = |node: Id| places.iter().find(|(n, _)| *n == node).map(|(_, column)| *column);
        if pods.iter().any(|p| p.owner.is_none_or(|o| !owners.contains(&o))) {
            self.lines.push(Line {
                row: None,
                depth: 1,
                more: false,
                children: 0,
                folded: false,
                cells: Vec::new(),
            });
        }
        let mut places: BTreeMap<Option<Id>, usize> = BTreeMap::new();
        for (i, line) in self.lines.iter_mut().enumerate() {
            line.cells = vec![Cell::default(); columns];
            places.insert(line.row.as_ref().map(|r| r.id), i);
            for members in line.row.iter().flat_map(|r| &r.members) {
                if let Some(column) = column_of(members.node) {
                    let cell = &mut line.cells[column].members;
                    let before = cell.map_or((0, 0), |m| (m.ready, m.not_ready));
                    let (ready, not_ready) = (before.0 + members.ready, before.1 + members.not_ready);
                    *cell = Some(Members { ready, not_ready, ..*members });
                }
            }
        }
        for pod in pods {
            self.unscheduled += usize::from(pod.node.is_none());
            // A pod whose node is gone stands where pods without a node stand.
            let column = pod.node.and_then(column_of).unwrap_or(0);
            let owner = pod.owner.filter(|o| owners.contains(o));
            if let Some(&line) = places.get(&owner) {
                self.lines[line].cells[column].pods.push((*pod).clone());
            }
        }
    }

    fn choose_density(&mut self, before: Density) {
        let fullest = self.lines.iter().flat_map(|l| &l.cells).map(|c| c.pods.len()).max().unwrap_or(0);
        let total: usize = self.lines.iter().flat_map(|l| &l.cells).map(|c| c.pods.len()).sum();
        let by = |slack: f64| {
            let n = fullest as f64 * slack;
            match n {
                n if total as f64 * slack > 1500.0 || n > 60.0 => Density::Grain,
                n if n > 12.0 => Density::Mosaic,
                n if n > 2.0 => Density::Square,
                _ => Density::Card,
            }
        };
        // Denser at once, looser only well below the limit.
        let (now, eased) = (by(1.0), by(1.2));
        self.density = if now > before { now } else { eased.min(before) };
        if self.density >= Density::Mosaic {
            for cell in self.lines.iter_mut().flat_map(|l| &mut l.cells) {
                cell.pods.sort_by(|a, b| (a.look, &a.object.name).cmp(&(b.look, &b.object.name)));
            }
        }
    }

    /// Each Service's wire runs down a node's column from the Service to its last pod there.
    fn wire(&mut self) {
        let is_service = |l: &Line| l.row.as_ref().is_some_and(|r| r.object.kind == "Service");
        let services: Vec<(usize, Id)> = (self.lines.iter().enumerate())
            .filter(|(_, l)| is_service(l))
            .filter_map(|(i, l)| l.row.as_ref().map(|r| (i, r.id)))
            .take(WIRES)
            .collect();
        for (place, (from, service)) in services.into_iter().enumerate() {
            for column in 1..=self.nodes.len() {
                let member = |l: &Line| {
                    l.cells[column].pods.iter().any(|p| p.services.iter().any(|(s, _)| *s == service))
                };
                let Some(to) = self.lines.iter().rposition(member).filter(|to| *to > from) else { continue };
                for (i, line) in self.lines.iter_mut().enumerate().take(to + 1).skip(from) {
                    let wire = if i == from { Wire::From } else { Wire::Through };
                    line.cells[column].wires.push((place, if i == to { Wire::To } else { wire }));
                }
            }
        }
    }

    /// Pods are too many for places of their own in the tree: cells draw them together, and a list names them.
    pub fn is_crowded(&self) -> bool {
        self.density == Density::Grain
    }

    /// The items of the tree from above, for the arrow keys: rows with their level, pods on level 3.
    pub fn items(&self) -> Vec<(Item, u8)> {
        let mut items = Vec::new();
        for line in &self.lines {
            if let Some(row) = &line.row {
                items.push((Item::Row(row.id), line.depth));
            }
            if !line.folded && !self.is_crowded() {
                let pods = line.cells.iter().flat_map(|c| &c.pods);
                items.extend(pods.map(|p| (Item::Pod(p.id), 3)));
            }
        }
        if self.others > 0 {
            items.push((Item::Others, 1));
        }
        items
    }
}

/// Where an arrow key leads in the tree, and whether it folds or unfolds the row it starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// The focus goes there.
    To(Item),
    /// This row's children are folded or unfolded.
    Fold(Id),
}

/// One key of the tree pattern: arrows, Home, End.
pub fn walk(plan: &Plan, at: Option<Item>, key: &str) -> Option<Walk> {
    let items = plan.items();
    let here = at.and_then(|a| items.iter().position(|(i, _)| *i == a));
    let Some(i) = here else { return items.first().map(|(item, _)| Walk::To(*item)) };
    let line_of = |id: Id| plan.lines.iter().find(|l| l.row.as_ref().is_some_and(|r| r.id == id));
    let foldable = |l: &Line| l.children > 0 || l.cells.iter().any(|c| !c.pods.is_empty());
    let to = |i: usize| items.get(i).map(|(item, _)| Walk::To(*item));
    match (key, items[i]) {
        ("ArrowDown", _) => to(i + 1),
        ("ArrowUp", _) => i.checked_sub(1).and_then(to),
        ("Home", _) => to(0),
        ("End", _) => to(items.len() - 1),
        ("ArrowRight", (Item::Row(id), level)) => match line_of(id).filter(|l| foldable(l))?.folded {
            true => Some(Walk::Fold(id)),
            false => to(i + 1).filter(|_| items.get(i + 1).is_some_and(|(_, l)| *l > level)),
        },
        ("ArrowLeft", (item, level)) => {
            let open = if let Item::Row(id) = item {
                line_of(id).filter(|l| foldable(l) && !l.folded)
            } else {
                None
            };
            match (open, item) {
                (Some(_), Item::Row(id)) => Some(Walk::Fold(id)),
                _ => (0..i).rev().find(|&j| items[j].1 < level).and_then(to),
            }
        }
        _ => None,
    }
}

impl Plan {
    /// What a person would type to get to each item: rows by their names, pods by theirs and by what stands on them.
    fn names(&self) -> Vec<(Item, Vec<&str>)> {
        let mut names = Vec::new();
        for line in &self.lines {
            if let Some(row) = &line.row {
                names.push((Item::Row(row.id), vec![row.object.name.as_str()]));
            }
            if !line.folded && !self.is_crowded() {
                let pods = line.cells.iter().flat_map(|c| &c.pods);
                names
                    .extend(pods.map(|p| (Item::Pod(p.id), vec![p.suffix.as_str(), p.object.name.as_str()])));
            }
        }
        names
    }
}

/// Where typing leads: the next item whose name begins with these letters; with one letter, or the same one again, the
/// search begins after the present item, else at it.
pub fn jump(plan: &Plan, at: Option<Item>, typed: &str) -> Option<Item> {
    let mut letters = typed.chars();
    let first = letters.next()?;
    let same = letters.all(|c| c == first);
    let wanted = if same { first.to_string() } else { typed.to_string() };
    let names = plan.names();
    let here = at.and_then(|a| names.iter().position(|(item, _)| *item == a)).unwrap_or(0);
    let from = here + usize::from(same && at.is_some());
    // Kubernetes' names are ASCII.
    let starts = |n: &str| n.get(..wanted.len()).is_some_and(|start| start.eq_ignore_ascii_case(&wanted));
    let begins = |(_, names): &&(Item, Vec<&str>)| names.iter().any(|n| starts(n));
    names.iter().cycle().skip(from).take(names.len()).find(begins).map(|(item, _)| *item)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn drawn(frame: &Frame, folded: &[Id]) -> Plan {
        plan(frame, &Ghosts::default(), folded, false, Density::Card)
    }

    #[test]
    fn owners_stand_over_what_they_own_and_pods_in_their_nodes_column() {
        let plan = drawn(&fixture::stalled(), &[]);
        let names: Vec<String> = plan
            .lines
            .iter()
            .filter_map(|l| l.row.as_ref().map(|r| format!("{} {}", l.depth, r.object.name)))
            .collect();
        assert_eq!(names, ["1 checkout", "1 checkout", "2 checkout-6c8f9d7b5d", "2 checkout-7b4d5c9f66"]);
        let suffixes = |line: usize, column: usize| {
            plan.lines[line].cells[column].pods.iter().map(|p| p.suffix.clone()).collect::<Vec<_>>()
        };
        assert_eq!(suffixes(2, 1), ["hv9sd"]);
        assert_eq!(suffixes(3, 2), ["x2k4p"]);
        assert_eq!(plan.unscheduled, 0);
        assert!(plan.others > 0, "the quiet kinds are folded away and counted");
    }

    #[test]
    fn a_wire_runs_from_the_service_to_its_last_pod_on_each_node() {
        let plan = drawn(&fixture::stalled(), &[]);
        let wires = |column: usize| {
            plan.lines.iter().map(|l| l.cells[column].wires.first().map(|w| w.1)).collect::<Vec<_>>()
        };
        assert_eq!(wires(1), [Some(Wire::From), Some(Wire::Through), Some(Wire::To), None]);
        assert_eq!(wires(2), [Some(Wire::From), Some(Wire::Through), Some(Wire::Through), Some(Wire::To)]);
    }

    #[test]
    fn very_many_nodes_share_columns_by_their_state_and_no_pod_is_lost() {
        let mut frame = fixture::stalled();
        let (node, pod) = (frame.nodes[0].clone(), frame.pods[0].clone());
        let looks = |i: u32| if i % 10 == 0 { NodeLook::NotReady } else { NodeLook::Ready };
        let one = |i: u32| Node {
            id: Id(1000 + i),
            name: format!("n{i}"),
            look: looks(i),
            pods: 1,
            ..(*node).clone()
        };
        frame.nodes = (0..100).map(|i| Arc::new(one(i))).collect();
        frame.pods = (0..100)
            .map(|i| Arc::new(Pod { id: Id(2000 + i), node: Some(Id(1000 + i)), ..(*pod).clone() }))
            .collect();
        let plan = drawn(&frame, &[]);
        assert_eq!(plan.sizes.iter().sum::<usize>(), 100);
        assert_eq!((plan.nodes.len(), plan.nodes[0].name.as_str()), (20, "n1…n5"));
        assert_eq!(plan.nodes.iter().map(|n| n.pods).sum::<u32>(), 100);
        let sick = plan.nodes.iter().filter(|n| n.look == NodeLook::NotReady).count();
        assert_eq!(sick, 2);
        let drawn_pods: usize = plan.lines.iter().flat_map(|l| &l.cells[1..]).map(|c| c.pods.len()).sum();
        assert_eq!(drawn_pods, 100);
        frame.nodes.truncate(80);
        assert_eq!(drawn(&frame, &[]).nodes.len(), 80, "as many as have room stand alone");
    }

    #[test]
    fn arrows_walk_the_tree_and_fold_it() {
        let frame = fixture::stalled();
        let plan = drawn(&frame, &[]);
        let items = plan.items();
        let at = |i: usize| Some(items[i].0);
        assert_eq!(walk(&plan, None, "ArrowDown"), Some(Walk::To(items[0].0)));
        assert_eq!(walk(&plan, at(0), "ArrowUp"), None);
        assert_eq!(walk(&plan, at(1), "ArrowDown"), Some(Walk::To(items[2].0)));
        let Item::Row(deployment) = items[1].0 else { panic!("a row") };
        assert_eq!(walk(&plan, at(1), "ArrowLeft"), Some(Walk::Fold(deployment)));
        assert_eq!(walk(&drawn(&frame, &[deployment]), at(1), "ArrowRight"), Some(Walk::Fold(deployment)));
        assert_eq!(walk(&plan, at(3), "ArrowLeft"), Some(Walk::To(items[2].0)), "a pod goes to its owner");
    }

    #[test]
    fn typing_jumps_to_the_next_name_that_begins_so() {
        let plan = drawn(&fixture::stalled(), &[]);
        let items = plan.items();
        let at = |i: usize| Some(items[i].0);
        assert_eq!(jump(&plan, at(0), "c"), at(1), "one letter goes on from here");
        assert_eq!(jump(&plan, at(0), "cc"), at(1), "and so does the same one again");
        assert_eq!(jump(&plan, at(0), "checkout-7"), jump(&plan, at(1), "checkout-7"));
        let pod = jump(&plan, at(0), "X2").expect("by what stands on it");
        assert!(matches!(pod, Item::Pod(_)));
        assert_eq!(jump(&plan, at(0), "x2"), Some(pod));
        assert_eq!(jump(&plan, at(0), "zz9"), None);
        assert_eq!(jump(&plan, None, ""), None);
    }

    #[test]
    fn density_grows_at_once_and_shrinks_with_slack() {
        let mut frame = fixture::stalled();
        let pod = frame.pods[0].clone();
        frame.pods = (0..13).map(|i| Arc::new(Pod { id: Id(100 + i), ..(*pod).clone() })).collect();
        assert_eq!(plan(&frame, &Ghosts::default(), &[], false, Density::Card).density, Density::Mosaic);
        frame.pods.truncate(11);
        assert_eq!(plan(&frame, &Ghosts::default(), &[], false, Density::Mosaic).density, Density::Mosaic);
        frame.pods.truncate(10);
        assert_eq!(plan(&frame, &Ghosts::default(), &[], false, Density::Mosaic).density, Density::Square);
    }
}
