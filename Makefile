# Trunkline's errands. `make run` shows a gateway, `make test` judges it; `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run build test lint format sanitize bench fuzz clean build-packages run-packages test-packages peers

# Debian packages, in one place. Each C library has one door in Sources/System.
BUILD_PACKAGES := pkg-config libglib2.0-dev libnice-dev libssl-dev libsrtp2-dev libopus-dev libspeexdsp-dev libspandsp-dev \
    libsofia-sip-ua-glib-dev libsoup-3.0-dev
# What the demo trunk says; without it tones stand in.
RUN_PACKAGES := asterisk-core-sounds-en-wav
# What the tests call, hear and speak with: real peers, none of ours.
TEST_PACKAGES := $(RUN_PACKAGES) chromium kamailio sip-tester sox openssl python3 python3-venv
# From PyPI, into a folder of the build: PJSIP, a SIP telephone.
PYTHON_PACKAGES := pjsua2-python==2.15.1.post1

CONFIG ?= Config/trunkline.json5
SWIFT ?= swift
# Which benchmark, with its options.
BENCHMARK ?= audio-path
PEERS_READY := .build/python/ready

# Installs those of $(1) that are missing. Only then is root needed.
define install
	@missing=(); for package in $(1); do \
	    [[ "$$(dpkg-query -W -f '$${db:Status-Status}' $$package 2>/dev/null || true)" == installed ]] || missing+=($$package); \
	done; \
	if (($${#missing[@]})); then \
	    echo "Debian packages to install: $${missing[*]}"; \
	    as_root=(); \
	    if ((EUID != 0)); then \
	        command -v sudo >/dev/null || { echo "root is needed to install them: run this as root, or install them yourself" >&2; exit 1; }; \
	        as_root=(sudo); \
	    fi; \
	    "$${as_root[@]}" apt-get update -q; \
	    "$${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$${missing[@]}"; \
	fi
endef

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

run: build run-packages ## build for release and serve Config/trunkline.json5 (another: make run CONFIG=FILE)
	exec "$$($(SWIFT) build -c release --show-bin-path)/trunkline" serve --config $(CONFIG)

build: build-packages ## build the executable for release
	$(SWIFT) build -c release --product trunkline

# One test at a time: loops, sockets and sound are judged in real time, and on two cores tests would disturb one another.
test: build-packages peers ## run every test, real peers included (some of them: make test ARGUMENTS="--filter RTPTests")
ifdef ARGUMENTS
	$(SWIFT) test $(ARGUMENTS)
else
	$(SWIFT) test --no-parallel --skip WireTests
	$(SWIFT) test --no-parallel --skip-build --filter WireTests
endif

lint: ## check the format of every Swift file
	$(SWIFT) format lint --strict -r -p $(wildcard Sources Tests Benchmarks) Package.swift

format: ## put every Swift file into format
	$(SWIFT) format -i -r -p $(wildcard Sources Tests Benchmarks) Package.swift

# The wire tests judge other programs' processes in real time: the sanitizers would see nothing in them.
sanitize: build-packages ## run all tests but the wire tests under the thread and the address sanitizer
	TSAN_OPTIONS=halt_on_error=1 $(SWIFT) test --sanitize=thread --scratch-path .build/thread --no-parallel --skip WireTests $(ARGUMENTS)
	ASAN_OPTIONS=detect_leaks=0:suppressions=$(CURDIR)/Tests/Sanitizers/address.txt $(SWIFT) test --sanitize=address --scratch-path .build/address --no-parallel --skip WireTests $(ARGUMENTS)

bench: build-packages ## print what a bridge costs next to the bare codecs
	$(SWIFT) run --package-path Benchmarks -c release bench $(BENCHMARK)

fuzz: build-packages ## feed the parsers with what a fuzzer makes up
	@if [[ -x Tests/Fuzz/run ]]; then exec Tests/Fuzz/run $(ARGUMENTS); else echo "no fuzz driver yet (Tests/Fuzz/run)" >&2; exit 1; fi

clean: ## remove everything that was built
	rm -rf .build Benchmarks/.build

run-packages:
	$(call install,$(RUN_PACKAGES))

build-packages:
	$(call install,$(BUILD_PACKAGES))

test-packages:
	$(call install,$(TEST_PACKAGES))

peers: test-packages $(PEERS_READY) ## install the peers that the wire tests call

# Made anew when this file, and so perhaps a version, changes.
$(PEERS_READY): Makefile
	python3 -m venv --clear .build/python
	.build/python/bin/pip install --quiet --disable-pip-version-check $(PYTHON_PACKAGES)
	touch $@
