//! Frames and scripts of keys and clicks.
