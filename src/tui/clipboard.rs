//! The clipboard. A program in a terminal cannot write it: tmux or the terminal does, and only tmux answers.

use std::io::{Write, stdout};
use std::process::{Command, Stdio};

use data_encoding::BASE64;
use fairdeal_ui::app::event::{Copied, Input, UiEvent};
use tokio::sync::mpsc;

use super::environment::Holder;

/// The bytes that GNU screen passes on at once.
const CHUNK: usize = 200;

/// Copies a text. The answer arrives as an input.
///
/// # Errors
/// The terminal's.
pub(super) fn copy(
    text: String,
    variable: impl Fn(&str) -> Option<String>,
    back: mpsc::Sender<Input>,
) -> std::io::Result<Option<Copied>> {
    match Holder::of(&variable) {
        Holder::Tmux => {
            // A server that hangs must not hold up the table, or the program's end.
            std::thread::spawn(move || {
                let copied = if give_to_tmux(&text) { Copied::Tmux } else { Copied::Nowhere };
                let _ = back.blocking_send(Input::UiEvent(UiEvent::Copied(copied)));
            });
            Ok(None)
        }
        Holder::Screen => ask(&text, true, &mut stdout().lock()),
        Holder::Terminal => ask(&text, false, &mut stdout().lock()),
        Holder::Console => Ok(Some(Copied::Nowhere)),
    }
}

/// Asks the terminal by OSC 52, which works over ssh too.
fn ask(text: &str, in_screen: bool, out: &mut impl Write) -> std::io::Result<Option<Copied>> {
    let request = format!("\x1b]52;c;{}\x07", BASE64.encode(text.as_bytes()));
    if in_screen {
        for part in request.as_bytes().chunks(CHUNK) {
            out.write_all(&[b"\x1bP", part, b"\x1b\\"].concat())?;
        }
    } else {
        out.write_all(request.as_bytes())?;
    }
    out.flush()?;
    Ok(Some(Copied::Asked))
}

/// Puts a text into tmux's buffer, and into the clipboard of its terminal. tmux before 3.2 knows only the buffer.
fn give_to_tmux(text: &str) -> bool {
    [&["load-buffer", "-w", "-"][..], &["load-buffer", "-"]]
        .into_iter()
        .any(|args| pipe("tmux", args, text).is_ok_and(|done| done))
}

/// Runs a program with a text as its input. Returns whether it succeeded.
fn pipe(program: &str, args: &[&str], text: &str) -> std::io::Result<bool> {
    let mut child =
        Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let written = child.stdin.take().map(|mut input| input.write_all(text.as_bytes()));
    let done = child.wait()?;
    Ok(done.success() && matches!(written, Some(Ok(()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The terminal around GNU screen receives the contents of all device control strings.
    #[test]
    fn screen_passes_a_long_text_on_in_parts() {
        let text = "fd1".repeat(200);
        let (mut plain, mut marked) = (Vec::new(), Vec::new());
        ask(&text, false, &mut plain).unwrap();
        ask(&text, true, &mut marked).unwrap();
        let marked = String::from_utf8(marked).unwrap();
        let parts: Vec<&str> = marked.split_terminator("\x1b\\").collect();
        assert!(parts.len() > 1 && parts.iter().all(|part| part.len() <= CHUNK + 2));
        let passed: String = parts.iter().map(|part| part.strip_prefix("\x1bP").unwrap()).collect();
        assert_eq!(passed.into_bytes(), plain);
    }
}
