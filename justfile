# The commands of everyday work; CI runs the same checks (.ci/run).

# Where cargo builds.
built := env("CARGO_TARGET_DIR", "target")

# Everything that has to pass before anything lands.
check: fmt lint page test doc msrv deny

fmt:
    cargo fmt --all --check

lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

test:
    cargo test --workspace --locked

doc:
    RUSTDOCFLAGS="-D warnings --html-in-header protocol/katex.html" cargo doc --workspace --no-deps --locked

# Builds the page that checks and plays games in a browser, and evenings of whole programs to compare, where that target is installed (rustup target add wasm32-unknown-unknown).
page:
    if rustc --print target-libdir --target wasm32-unknown-unknown | xargs test -d; then cargo build -p fairdeal-web --profile web --target wasm32-unknown-unknown --locked && cargo build -p fairdeal-evenings --profile web --target wasm32-unknown-unknown --locked && cargo run -p fairdeal-assemble --locked -- {{built}}/wasm32-unknown-unknown/web/fairdeal_web.wasm {{built}}/page; else echo 'skipped: no target wasm32-unknown-unknown here'; fi

# Builds the site in target/site, with the page for browsers; needs mdbook (cargo install mdbook).
site: page
    mdbook build docs
    cp {{built}}/page/fairdeal.html target/site/
    cp tests/it/transcripts/loot.fairdeal target/site/game.fairdeal

# How long this machine takes to check a file, without and with a browser; the page has to be built.
bench-page FILE="tests/it/transcripts/houses-of-thoth.fairdeal":
    RUSTFLAGS='--cfg curve25519_dalek_backend="serial"' cargo run --release --target-dir target/serial -p fairdeal-web --example time {{FILE}}
    FAIRDEAL_REQUIRE=browser cargo test -p fairdeal-web --test browser -- --nocapture checked

# Builds with the oldest Rust that Cargo.toml promises, where that toolchain is installed (rustup toolchain install 1.89).
msrv:
    if rustup toolchain list | grep -q '^1\.89'; then cargo +1.89 check --workspace --locked; else echo 'skipped: no Rust 1.89 here'; fi

# Checks licences, sources and bans of the libraries, where cargo-deny is installed (cargo install cargo-deny).
deny:
    if command -v cargo-deny >/dev/null; then cargo deny --offline check bans licenses sources; else echo 'skipped: no cargo-deny here'; fi

# The same with known holes of the libraries. Needs cargo-deny and the internet.
advisories:
    cargo deny check

# Builds the packages of a release in target/packages (CONTRIBUTING.md names the tools).
dist:
    packaging/dist.sh

# Tries the packages that `just dist` has built: unpack, run, play, verify, remove; Windows under Wine.
check-dist:
    packaging/check.sh

# Makes an image of the relay from a static program, with buildah or another engine's `build` (see docs/meeting-points.md).
container PROGRAM="target/x86_64-unknown-linux-musl/dist/fairdeal" BUILD="buildah build --format docker":
    mkdir -p target/container/data
    cp {{PROGRAM}} target/container/fairdeal
    {{BUILD}} -t fairdeal-relay -f packaging/container/Containerfile target/container

# Plays whole simulated tables against a bad world (see CONTRIBUTING.md).
simulate TABLES="1000" FIRST="0":
    FAIRDEAL_TABLES={{TABLES}} FAIRDEAL_FIRST={{FIRST}} cargo test --release --test sim -- --nocapture tables

# Plays games under every kind of network abuse (on Linux; see CONTRIBUTING.md).
abuse SECONDS="300":
    FAIRDEAL_ABUSE={{SECONDS}} cargo test --release --test it -- --nocapture abuse

# Visits every world of the large searches of the removal rule (their sizes are in docs/protocol.md).
explore:
    nice -n 19 cargo test --release -p fairdeal-protocol --lib --locked -- --include-ignored --nocapture --test-threads 1 membership::explore

# Searches the reference models, whole and at random, and breaks them in every way that they know: half an hour at most.
models:
    nice -n 19 python3 -B docs/models/removal.py
    nice -n 19 python3 -B docs/models/removal.py --planted
    nice -n 19 python3 -B docs/models/endings.py
    nice -n 19 python3 -B docs/models/endings.py --planted
    nice -n 19 python3 -B docs/models/shuffle_proof.py
    nice -n 19 python3 -B docs/models/shuffle_proof.py --planted

# Times the proofs, the audit, the engines and the screens (earlier figures are in docs/performance.md).
bench:
    cargo bench -p fairdeal-protocol --bench crypto --bench deal
    cargo bench -p fairdeal --bench audit --bench engines --bench screens

# What a table costs its machine and its network, by real programs (on Linux; figures are in docs/network.md).
bench-network:
    cargo bench -p fairdeal --bench network

# How long two builds take from one action to the next, in turn, also with slow disk syncs (on Linux; figures are in docs/performance.md).
bench-latency OLD NEW:
    python3 benches/latency.py {{OLD}} {{NEW}}

# What a relay under load costs: a thousand tables and two hundred circuits (on Linux, with two cores; figures are in docs/performance.md).
bench-relay SECONDS="20":
    cargo bench -p fairdeal --bench relay --no-run
    taskset -c 0 cargo bench -p fairdeal --bench relay -- {{SECONDS}}

# How long actions take while a bot thinks, and what waiting bots cost (on Linux; figures are in docs/performance.md).
bench-bots:
    cargo bench -p fairdeal --bench network -- thinking

# What the program costs its terminal: first frame, bytes of a step, an idle table (on Linux).
bench-terminal:
    cargo bench -p fairdeal --bench terminal

# Times shuffles of published crates beside ours, on one core (on Linux; results are in docs/compare.md).
bench-compare:
    cargo build --release --locked --manifest-path benches/compare/Cargo.toml
    taskset -c 1 benches/compare/target/release/compare

# Draws the README's pictures anew.
pictures:
    cargo run --example pictures -- docs/pictures

# Records each game from the running program, as animated pictures.
recordings:
    cargo build
    cargo run --example recording -- docs/recordings

# Draws every screen at every size, dark and light, and a page of them.
screens FOLDER:
    cargo run --example pictures -- {{FOLDER}} --all

# Reads every screen back from the terminals that are installed, cell by cell: tmux, GNU screen, Neovim, xterm.js (npm).
terminals:
    npm ci --prefix tests/xterm-js --ignore-scripts --no-audit --no-fund
    FAIRDEAL_REQUIRE=pty,terminals cargo test --lib -- read_back

# Writes the table of fonts in docs/settings.md anew, from Debian's packages (apt-get).
glyphs:
    packaging/glyphs.py

# Writes docs/events.schema.json anew from the types in src/events.
schema:
    UPDATE_SCHEMA=1 cargo test --test it -- events::schema_file

play *ARGS:
    cargo run --release -- play loot {{ARGS}}

# Fuzzes one target (see CONTRIBUTING.md). Needs cargo-fuzz, a nightly compiler and a C++ one.
fuzz TARGET *ARGS:
    cargo +nightly fuzz run --dev --features libfuzzer {{TARGET}} -- {{ARGS}}

# Writes the seeds of the fuzzing corpus.
seeds:
    cargo run -p fairdeal-fuzz --example seeds

# Plays whole games between real programs that are killed, cut off and left without disk (see CONTRIBUTING.md).
torture MINUTES="60" SEED="0":
    FAIRDEAL_TORTURE={{MINUTES}} FAIRDEAL_SEED={{SEED}} cargo test --release --test it -- --nocapture torture
