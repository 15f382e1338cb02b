//! The kubelet on a machine, against recordings.
