//! `fairdeal completions` and `fairdeal man`: what a shell and `man` want to know, from the arguments themselves.

use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_complete::Shell;

use super::output::print;
use super::{Args, Exit};

pub(super) fn completions(shell: Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "fairdeal", &mut script);
    print(&script)?;
    Ok(Exit::Done)
}

pub(super) fn man(folder: Option<&Path>) -> anyhow::Result<Exit> {
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(Args::command(), folder))
            .with_context(|| format!("cannot write the pages into {}", folder.display()))?;
        return Ok(Exit::Done);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(Args::command()).render(&mut page)?;
    print(&page)?;
    Ok(Exit::Done)
}
