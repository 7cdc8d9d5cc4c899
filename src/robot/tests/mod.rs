//! The whole bridge under a virtual clock, with a small obedient robot at the other end of the wire.

mod calls;
mod hostile;
mod peers;
mod races;
mod senses;
mod signs;
mod storms;
mod wall;
mod world;
