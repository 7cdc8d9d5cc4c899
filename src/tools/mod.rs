//! The tools themselves: a folder a domain, a file a tool.
//!
//! A tool describes itself and does its one thing with the grant it is given. It judges neither
//! itself nor its caller: policy, arguments and limits were the gate's work.

pub mod robot;
