# Each target is what a person would type. `make` shows them.
.DEFAULT_GOAL := help
CARGO ?= cargo
CIPHERMARK := target/release/ciphermark
RECORD ?= bench.json

.PHONY: help setup libs clean-libs web build first attached program bench bench-page gallery test test-all test-long test-times test-kubernetes lint fmt verify agree repeat accuracy kill-test claims fuzz asan zoo test-aarch64 add-record install packages test-packages clean

help: ## show the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: ## install what is missing (Debian, Ubuntu; nothing if all is there)
	@scripts/setup

libs: setup ## build current releases of the crypto libraries, those that are missing or have changed
	libs/build

clean-libs: ## remove the built libraries, here and in the user's cache directory
	libs/build --clean

# What the HTML page embeds and what its tests need, as package-lock.json pins it. The second file is npm's own note
# of what it has installed.
web: setup web/node_modules/.package-lock.json ## fetch the chart library that the HTML page embeds

web/node_modules/.package-lock.json: web/package-lock.json | setup
	cd web && npm ci --ignore-scripts
	@touch $@

build: setup web ## build ciphermark and the libraries that come with it
	@$(MAKE) --no-print-directory attached program

# The libraries that come with the build. The suite of the first answer measures the first ones.
FIRST := $(addprefix ciphermark-,baselines graviola ring rustcrypto)
ATTACHED := $(FIRST) ciphermark-adiantum ciphermark-blake3 ciphermark-hctr2 ciphermark-meter ciphermark-watch ciphermarktls-rustls-graviola ciphermarktls-rustls-ring
first: setup web
	@$(MAKE) --no-print-directory attached program ATTACHED="$(FIRST) ciphermark-watch" \
	  SMALLER= PROGRAM_FLAGS="--no-default-features $(foreach crate,$(UNMEASURED),--config profile.release.package.$(crate).opt-level=0)"

# What is measured is built as everybody builds it, the program small.
attached:
	$(CARGO) build --release --locked $(addprefix --package ,$(ATTACHED))

# For the first answer, what only plans, keeps, judges and shows is not optimised, and archives and Parquet are left out:
# that compiles sooner. What measures and verifies is the same in every build.
UNMEASURED := ciphermark $(addprefix ciphermark-,engine judge record report) clap_builder clap_complete clap_mangen indicatif jiff schemars
# Calls go straight to their functions, and tables for unwinding are left out, which a program that ends at panics has no
# use for: a fifth smaller. Not for the first answer: its macros' crates would be compiled twice.
SMALLER := --config 'build.rustflags="-Crelro-level=partial"'
LINKED := -Clink-arg=-Wl,-z,now,-T,$(CURDIR)/program.ld
program:
	$(CARGO) rustc --release --locked --package ciphermark --bin ciphermark --config program.toml $(SMALLER) $(PROGRAM_FLAGS) -- $(if $(SMALLER),$(LINKED))

# The system's libraries, those that came with the build, and what `make libs` has built. Cases that were refused or
# failed (status 3) stand in the table with their reason.
bench: first ## build, measure what is here for about a minute, print the answer, write bench.json and bench.html
	$(CIPHERMARK) run --suite quick -o $(RECORD) || [ $$? = 3 ]
	$(CIPHERMARK) report $(RECORD) -o $(RECORD:.json=.html)
	@missing=$$(libs/build --list | grep -c ' \(missing\|changed\)$$'); [ "$$missing" = 0 ] || echo "$$missing current releases of libraries are not built: make libs builds them in some ten minutes; then make bench measures them too"

# All at once: the features that tests add to dependencies would have everything built a second time. No examples in
# comments are compiled: there are none. `--tests` has the unit tests, too; with `--lib` cargo would also make test programs of
# the libraries that have none, and only `cargo build` needs their objects.
TESTED := --locked --workspace --features ciphermark/postgres
BUILT_FOR_TESTS := $(CARGO) build $(TESTED) --lib --bins --tests --timings
NEXTEST := scripts/nextest run $(TESTED) --tests
# The same random inputs every time, so that a failure is one of the change: `make fuzz` looks for new ones. Any other
# number, or none, by PROPTEST_RNG_SEED=.
test test-long: export PROPTEST_RNG_SEED ?= 20261124
test test-long: export CIPHERMARK_TEST_BUILT := yes

test: setup web ## the tests of a second or less, which need no servers and no bundled libraries: 90 s from a built tree
	$(BUILT_FOR_TESTS)
	$(NEXTEST)

test-all: test test-long ## those and the long ones: real servers, kills, bundled libraries, planted faults, a browser

test-long: libs
	@scripts/setup tests
	$(BUILT_FOR_TESTS)
	$(NEXTEST) --profile long --run-ignored only; status=$$?; scripts/webtest && exit $$status

test-times: ## where the time of the last test runs went: by test, by crate compiled, by library built
	@scripts/test-times

test-kubernetes: web ## a survey through a real Kubernetes of three nodes: ten minutes to build it, once, then two
	@scripts/setup kubernetes
	tests/kubernetes/build
	$(BUILT_FOR_TESTS)
	CIPHERMARK_TEST_BUILT=yes CIPHERMARK_TEST_KUBERNETES=yes $(NEXTEST) --run-ignored only --no-capture through_a_real_kubernetes

bench-page: build ## what the HTML page costs with 20,000 cases: size, first paint, change of a filter
	@scripts/setup tests
	CIPHERMARK=$(CURDIR)/$(CIPHERMARK) node web/bench.mjs

lint: ## formatting, Clippy (for aarch64, too), licences, bans and sources of dependencies
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) clippy --locked --package ciphermark --no-default-features -- -D warnings
	@scripts/lint-aarch64
	@scripts/deny

fmt: ## format the code
	$(CARGO) fmt --all

# The published records as an archive. Its site is what a reader of the README may look at.
GALLERY := target/gallery
gallery: build ## the published records as an archive and a site, in target/gallery
	rm -rf $(GALLERY) && mkdir -p $(GALLERY)
	$(CIPHERMARK) archive add $(GALLERY)/records.db records/*-gnr.json.gz --machine 'Granite Rapids VM'
	$(CIPHERMARK) archive add $(GALLERY)/records.db records/*-zen4.json.gz --machine 'Zen 4 VM'
	$(CIPHERMARK) archive add $(GALLERY)/records.db records/tls-handshake-*-spr.json.gz --machine 'Sapphire Rapids VM'
	$(CIPHERMARK) report --from $(GALLERY)/records.db -o $(GALLERY)/site

verify: build libs ## run every check over every library found, no timing
	$(CIPHERMARK) verify

agree: build ## compare with a C loop and with `openssl speed -evp` of OpenSSL 3 and 4, in turn (a quarter of an hour)
	lab/agree $(CIPHERMARK)

repeat: build ## run the same survey twice and compare the two
	scripts/repeat $(CIPHERMARK)

accuracy: build libs ## measure how accurate ciphermark is on this kind of CPU: adds it to docs/ACCURACY.md (half an hour)
	scripts/accuracy $(CIPHERMARK)

kill-test: build ## kill 200 runs at random moments, go on with each, compare with one that was not killed (a quarter of an hour)
	scripts/kill-test $(CIPHERMARK) --jobs 4

claims: build libs ## judge the published claims by this machine and write docs/CLAIMS.md and claims/OUTCOME.md (some minutes)
	scripts/claims $(CIPHERMARK)

fuzz: ## feed every reader of files, lines and flags with made-up inputs, FUZZ_SECONDS=600 for each of ten
	@scripts/fuzz

asan: ## the parts with unsafe code under address, leak, undefined-behaviour and thread sanitizers (nightly; half an hour)
	@scripts/asan

zoo: build libs ## plant faults in stand-in libraries, find them all, and none in the real ones (writes tests/fakes/zoo/README.md)
	scripts/zoo $(CIPHERMARK)

test-aarch64: web ## build for aarch64, try it in an emulated arm64 Debian on three CPU models (WHAT and CPU names: scripts/test-aarch64)
	@scripts/setup aarch64
	scripts/test-aarch64

add-record: build ## add a record of your machine to records/: make add-record NAME=graviton4 (RECORD=bench.json)
	scripts/add-record --ciphermark $(CIPHERMARK) $(RECORD) $(NAME)

install: build libs ## install into PREFIX (default ~/.local): program, libraries, man pages, completions
	scripts/install $(CIPHERMARK)

packages: web ## build a release into target/packages/dist: tarball, .deb, wheel, OCI image, SBOM, checksums (half an hour)
	@scripts/setup packages
	scripts/packages

test-packages: ## install those into clean roots of Debian 11 to 13 without compilers, and use them
	scripts/test-packages

clean: ## remove what was built
	$(CARGO) clean
