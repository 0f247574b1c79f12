"""tools/dev/check_layers.py finds each kind of wrong include, and no other."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(folder: pathlib.Path, path: str, line: str) -> subprocess.CompletedProcess:
    file = folder / path
    file.parent.mkdir(parents=True)
    file.write_text(f"// A file.\n{line}\n", encoding="utf-8")
    return subprocess.run(
        [sys.executable, ROOT / "tools/dev/check_layers.py", folder],
        capture_output=True, text=True, check=False)


@pytest.mark.parametrize("path, line", [
    ("grammar_core/mask/token_mask.h", '#include "grammar_core/tokenizer/vocabulary.h"'),
    ("grammar_core/matcher/matcher.cc", '#include "grammar_core/frontend/front_end.h"'),
    ("cache/grammar_cache.cc", '#include "metrics/names.h"'),
    ("service/process/server.cc", '#include <grpcpp/grpcpp.h>'),
    ("service/process/server.cc", '#include "maskd/v1/grammar.pb.h"'),
    ("tools/cli/main.cc", '#include "client/cpp/client.h"'),
    ("service/main.cc", '#include "playground/served_page.h"'),
    ("playground/served_page.cc", '#include "client/cpp/client.h"'),
    ("grammar_core/base/error.h", '#include "absl/status/status.h"'),
    ("grammar_core/base/error.h", '#include <vector>'),
])
def test_an_edge_that_goes_down_is_allowed(tmp_path, path, line):
    done = check(tmp_path, path, line)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path, line, message", [
    ("service/process/server.cc", '#include "playground/served_page.h"', "service/process may not include playground"),
    ("service/main.cc", '#include "tools/cli/command.h"', "service/main.cc may not include tools"),
    ("playground/answers.cc", '#include "tools/cli/print.h"', "playground may not include tools"),
    ("grammar_core/frontend/registry.cc", '#include "grammar_core/compile/compiler.h"',
     "grammar_core/frontend may not include grammar_core/compile"),
    ("grammar_core/ir/ir_builder.cc", '#include "grammar_core/tokenizer/vocabulary.h"',
     "grammar_core/ir may not include grammar_core/tokenizer"),
    ("grammar_core/base/error.cc", '#include <grpcpp/status.h>',
     "grammar_core/base may not include <grpcpp/status.h>"),
    ("grammar_core/base/error.cc", '#include "google/protobuf/message.h"',
     "grammar_core/base may not include <google/protobuf/message.h>"),
    ("grammar_core/matcher/matcher.cc", '#include "prometheus/counter.h"',
     "grammar_core/matcher may not include <prometheus/counter.h>"),
    ("cache/grammar_cache.cc", '#include "service/process/server.h"', "cache may not include service/process"),
    ("service/sequences/checker.cc", '#include "grammar_core/rows/row_states.h"',
     "service/sequences may not include grammar_core/rows"),
    ("service/grammars/preload.cc", '#include "service/streams/stream_session.h"',
     "service/grammars may not include service/streams"),
    ("service/streams/stream_session.cc", '#include <grpcpp/grpcpp.h>',
     "service/streams may not include <grpcpp/grpcpp.h>"),
    ("cache/grammar_cache.cc", '#include "grammar_core/terms/term.h"',
     "cache may not include grammar_core/terms"),
    ("client/cpp/client.cc", '#include "grammar_core/base/error.h"',
     "client/cpp may not include grammar_core/base"),
    ("client/cpp/steps/step.h", '#include "client/cpp/calls/step_call.h"',
     "client/cpp/steps may not include client/cpp/calls"),
    ("client/cpp/masks/mask_view.cc", '#include <grpcpp/grpcpp.h>',
     "client/cpp/masks may not include <grpcpp/grpcpp.h>"),
    ("metrics/registry.cc", '#include "maskd/v1/grammar.pb.h"', "metrics may not include protos"),
    ("service/process/server.cc", '#include "config.h"', "is not written from the root"),
    ("helpers/x.cc", '#include <vector>', "helpers is not a room"),
])
def test_an_edge_that_goes_up_is_found_with_its_line(tmp_path, path, line, message):
    done = check(tmp_path, path, line)
    assert done.returncode == 1
    assert f"{path}:" in done.stdout
    assert message in done.stdout


def test_a_tree_without_sources_is_not_a_pass(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "tools/dev/check_layers.py", tmp_path],
        capture_output=True, text=True, check=False)
    assert done.returncode == 1
