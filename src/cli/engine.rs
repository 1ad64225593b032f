//! `fairdeal engine`: the referee on standard input and output.

use std::io::{BufRead, BufReader, Read as _, Write as _, stdin, stdout};

use fairdeal_games::referee::Referee;

use super::exit::Exit;
use super::output::output_error;

/// The longest line accepted, in bytes; explicit chance for a whole evening fits.
const MAX_LINE: u64 = 16 << 20;

pub(super) fn engine() -> anyhow::Result<Exit> {
    let mut input = BufReader::with_capacity(1 << 16, stdin().lock());
    let mut output = std::io::BufWriter::new(stdout().lock());
    let mut referee = Referee::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut input).take(MAX_LINE + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(Exit::Done);
        }
        let answer = if line.last() == Some(&b'\n') {
            line.pop();
            referee.answer(&line)
        } else if read as u64 > MAX_LINE {
            // The rest of the line is not a request of its own.
            skip_line(&mut input)?;
            Referee::refuse(&format!("the line is longer than {} MiB", MAX_LINE >> 20))
        } else {
            referee.answer(&line)
        };
        let sent = writeln!(output, "{answer}").and_then(|()| {
            // Flush unless a whole request is waiting: with half of the next one, the client may wait for this answer.
            if input.buffer().contains(&b'\n') { Ok(()) } else { output.flush() }
        });
        sent.map_err(output_error)?;
    }
}

fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}
