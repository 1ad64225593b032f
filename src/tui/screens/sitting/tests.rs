//! The table as the player meets it: choosing by keys and by mouse.
