//! One integration binary with a module per ring of tests.
