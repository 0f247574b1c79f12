"""Each alert of k8s/components/monitoring fires on the series that it is for and is silent on the nearest harmless one.

promtool evaluates the rules once a minute over the series of CASES; without it nothing is tested, said aloud (77).
"""

import json
import pathlib
import subprocess
from typing import NamedTuple

import yaml

import prometheus
import queries

ROOT = prometheus.ROOT
RULES = yaml.safe_load((ROOT / "k8s/components/monitoring/prometheus_rule.yaml").read_text())["spec"]
POD = {"namespace": "n", "pod": "p"}


class Case(NamedTuple):
    what: str
    alert: str
    # Name and labels (beside POD) of a series: its values, a minute apart, as promtool writes them.
    series: dict
    # Minute: the labels (beside POD and the severity) of the alert that fires then, or None for silence.
    at: dict


def steps(fast: int, slow: int, minutes: int) -> dict:
    """Steps a minute of 0.05 ms and of 40 ms."""
    both = fast + slow
    return {f'maskd_step_seconds_bucket{{le="{bound}"}}': f"0+{count}x{minutes}"
            for bound, count in {"0.0001": fast, "0.02": fast, "0.05": both, "+Inf": both}.items()}


REFUSED = "maskd_refused_total"
def waits(short: int, long: int, minutes: int) -> dict:
    """Steps a minute that wait 0.05 ms and 8 ms."""
    both = short + long
    return {f'maskd_step_wait_seconds_bucket{{le="{bound}"}}': f"0+{count}x{minutes}"
            for bound, count in {"0.0001": short, "0.005": short, "0.01": both, "+Inf": both}.items()}


INTERNAL = f'{REFUSED}{{code="INTERNAL",reason="other"}}'


def pool(name: str, in_use: str, limit: int) -> dict:
    return {f'maskd_pool_in_use{{pool="{name}"}}': in_use, f'maskd_pool_limit{{pool="{name}"}}': f"{limit}x40"}


CASES = [
    Case("the first INTERNAL", "MaskdInternalError", {INTERNAL: "0x5 1x25"}, {5: None, 6: {}, 14: {}, 17: None}),
    Case("one more", "MaskdInternalError", {INTERNAL: "1x20 2x20"}, {20: None, 22: {}, 35: None}),
    Case("one after a restart", "MaskdInternalError", {INTERNAL: "3x20 0x2 1x20"}, {20: None, 24: {}, 38: None}),
    Case("of a compile for a step, which ends no call", "MaskdInternalError",
         {'maskd_compiles_total{kind="regex",code="INTERNAL"}': "0x5 1x25"}, {5: None, 6: {}, 18: None}),
    Case("another code", "MaskdInternalError",
         {f'{REFUSED}{{code="UNAVAILABLE",reason="DRAINING"}}': "0x5 1+1x25",
          'maskd_compiles_total{kind="regex",code="INVALID_ARGUMENT"}': "0x5 1+1x25"}, {6: None, 18: None}),
    Case("two steps of a hundred are slow", "MaskdStepsAreSlow", steps(980, 20, 30), {8: None, 20: {}}),
    Case("one of two hundred is", "MaskdStepsAreSlow", steps(995, 5, 30), {20: None}),
    Case("nobody sends steps", "MaskdStepsAreSlow", steps(0, 0, 30), {20: None}),
    Case("slow for five minutes", "MaskdStepsAreSlow",
         {name: values.replace("x30", "x5") + f" {int(values[2:].split('x')[0]) * 5}x25"
          for name, values in steps(980, 20, 30).items()}, {14: None, 25: None}),
    Case("two steps of a hundred wait", "MaskdStepsWait", waits(980, 20, 30), {8: None, 20: {}}),
    Case("one of two hundred does", "MaskdStepsWait", waits(995, 5, 30), {20: None}),
    Case("12 refusals a minute", "MaskdRefusesForLoad",
         {f'{REFUSED}{{code="RESOURCE_EXHAUSTED"}}': "0+12x20"}, {3: None, 10: {}}),
    Case("4 a minute", "MaskdRefusesForLoad",
         {f'{REFUSED}{{code="RESOURCE_EXHAUSTED"}}': "0+4x20"}, {15: None}),
    Case("clients that vanish and grammars that are wrong", "MaskdRefusesForLoad",
         {f'{REFUSED}{{code="CANCELLED"}}': "0+60x20", f'{REFUSED}{{code="INVALID_ARGUMENT"}}': "0+60x20"}, {15: None}),
    Case("one compile is refused for memory", "MaskdMemoryShort",
         {'maskd_memory_refused_total{mark="high"}': "0x5 1x20"}, {4: None, 7: {}, 18: None}),
    Case("compiles wait for memory, and none is refused", "MaskdMemoryShort",
         {'maskd_memory_waits_total{mark="high"}': "0+5x20", 'maskd_memory_refused_total{mark="high"}': "7x20"},
         {10: None}),
    Case("compiles wait all the time", "MaskdCompilesQueue", {"maskd_compile_queue": "3x20"}, {3: None, 12: {}}),
    Case("the queue is empty now and then", "MaskdCompilesQueue",
         {"maskd_compile_queue": "9 9 9 0 9 9 9 0 9 9 9 0 9 9 9 0 9 9 9"}, {12: None, 17: None}),
    Case("61 of 64 streams", "MaskdLimitNear", {**pool("streams", "10x5 61x30", 64), **pool("calls", "10x35", 1280)},
         {8: None, 12: {"pool": "streams"}, 30: {"pool": "streams"}}),
    Case("half of them, and all threads at work", "MaskdLimitNear",
         {**pool("streams", "32x35", 64), **pool("compile_threads", "2x35", 2)}, {12: None, 30: None}),
    Case("all of them for three minutes", "MaskdLimitNear", pool("streams", "1x5 64x2 1x20", 64), {7: None, 12: None}),
    Case("both threads compile all the time", "MaskdThreadsBusy",
         {**pool("compile_threads", "2x35", 2), **pool("stream_threads", "0 1 0 0 1 0 0x30", 1)},
         {9: None, 12: {"pool": "compile_threads"}}),
    Case("they are at work at most scrapes", "MaskdThreadsBusy",
         pool("compile_threads", "2 2 1 2 2 1 2 1 2 2 1 2 2 2 1 2 2 1 2 2 1 2 1 2 2 1", 2), {12: None, 22: None}),
    Case("a limit is met", "MaskdThreadsBusy", pool("streams", "64x35", 64), {25: None}),
    Case("a connection waited for a descriptor", "MaskdAcceptsLate",
         {"maskd_accept_shortages_total": "0x5 1x20"}, {4: None, 7: {}, 18: None}),
    Case("one did yesterday", "MaskdAcceptsLate", {"maskd_accept_shortages_total": "4x20"}, {15: None}),
    Case("strangers keep coming", "MaskdCallersRefused",
         {'maskd_callers_refused_total{reason="unauthenticated"}': "0+12x20",
          'maskd_callers_refused_total{reason="permission_denied"}': "0x20"},
         {3: None, 12: {"reason": "unauthenticated"}}),
    Case("a burst of a minute", "MaskdCallersRefused",
         {'maskd_callers_refused_total{reason="unauthenticated"}': "0x3 60x20"}, {7: None, 15: None}),
    Case("one tenant wants more than it may", "MaskdTenantAtItsLimit",
         {'maskd_tenant_refused_total{tenant="a"}': "0+12x30", 'maskd_tenant_refused_total{tenant="b"}': "0x30"},
         {8: None, 20: {"tenant": "a"}}),
    Case("at its limit for seven minutes", "MaskdTenantAtItsLimit",
         {'maskd_tenant_refused_total{tenant="a"}': "0+12x7 84x30"}, {8: None, 20: None}),
    Case("a peer takes connection after connection", "MaskdConnectionsRefused",
         {'maskd_connections_refused_total{reason="max_peer_connections"}': "0+30x20",
          'maskd_connections_refused_total{reason="max_connections"}': "0x20"},
         {3: None, 12: {"reason": "max_peer_connections"}}),
    Case("a few have been refused", "MaskdConnectionsRefused",
         {'maskd_connections_refused_total{reason="max_connections"}': "0+3x20"}, {15: None}),
    Case("a scrape finds nobody", "MaskdDown",
         {'up{job="maskd"}': "1x5 0x20"}, {5: None, 7: None, 9: {"job": "maskd"}}),
    Case("one scrape was lost, and another program is down", "MaskdDown",
         {'up{job="maskd"}': "1x5 0 1x20", 'up{job="vllm"}': "0x20"}, {7: None, 12: None}),
    Case("it comes up again and again", "MaskdRestarts",
         {'process_start_time_seconds{job="maskd"}': "100x5 400x5 700x30"}, {8: None, 14: {}, 39: None}),
    Case("a new version is rolled out, and another program falls over", "MaskdRestarts",
         {'process_start_time_seconds{job="maskd"}': "100x5 400x30",
          'process_start_time_seconds{job="vllm"}': "100x5 400x5 700x30"}, {14: None}),
]


def as_series(name: str) -> str:
    name, _, labels = name.partition("{")
    own = labels.rstrip("}")
    return f'{name}{{namespace="n",pod="p"{"," if own else ""}{own}}}'


def expected(case: Case, labels: dict) -> dict:
    (rule,) = [rule for group in RULES["groups"] for rule in group["rules"] if rule["alert"] == case.alert]
    # An alert of a bare series keeps its labels, of a sum those that it is by: POD in either case.
    return {"exp_labels": {**POD, **rule["labels"], **labels}, "exp_annotations": rule["annotations"]}


def as_test(case: Case) -> dict:
    return {
        "name": f"{case.alert}: {case.what}",
        "interval": "1m",
        "input_series": [{"series": as_series(name), "values": values} for name, values in case.series.items()],
        "alert_rule_test": [
            {"eval_time": f"{minute}m", "alertname": case.alert,
             "exp_alerts": [] if labels is None else [expected(case, labels)]}
            for minute, labels in case.at.items()],
    }


def run(folder: pathlib.Path, cases: list) -> subprocess.CompletedProcess:
    (folder / "rules.json").write_text(json.dumps({"groups": RULES["groups"]}))
    (folder / "cases.json").write_text(json.dumps(
        {"rule_files": ["rules.json"], "evaluation_interval": "1m", "tests": [as_test(case) for case in cases]}))
    return subprocess.run([prometheus.program("promtool"), "test", "rules", folder / "cases.json"],
                          capture_output=True, text=True, timeout=120, check=False)


def test_the_rules_are_what_prometheus_reads(tmp_path):
    (tmp_path / "rules.json").write_text(json.dumps({"groups": RULES["groups"]}))
    done = subprocess.run([prometheus.program("promtool"), "check", "rules", tmp_path / "rules.json"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_queries_of_dashboard_and_docs_are_what_prometheus_reads(tmp_path):
    rules = [{"record": f"r{i}", "expr": query} for i, query in enumerate(queries.every().values())]
    (tmp_path / "rules.json").write_text(json.dumps({"groups": [{"name": "all", "rules": rules}]}))
    done = subprocess.run([prometheus.program("promtool"), "check", "rules", tmp_path / "rules.json"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(rules)} rules found" in done.stdout


def test_every_alert_has_a_case_that_fires_and_one_that_never_does():
    alerts = {rule["alert"] for group in RULES["groups"] for rule in group["rules"]}
    assert {case.alert for case in CASES if any(labels is not None for labels in case.at.values())} == alerts
    assert {case.alert for case in CASES if not any(labels is not None for labels in case.at.values())} == alerts


def test_they_fire_and_are_silent_as_the_cases_say(tmp_path):
    done = run(tmp_path, CASES)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_autoscaler_sees_the_time_of_steps_of_each_pods_threads(tmp_path):
    """Of p two seconds in a second, of four threads; of q as much, of two; of another namespace nothing."""
    threads = {("n", "p"): 4, ("n", "q"): 2, ("m", "r"): 1}
    series = [{"series": f'{name}{{namespace="{namespace}",pod="{pod}"{label}}}', "values": values}
              for (namespace, pod), limit in threads.items()
              for name, label, values in (("maskd_step_seconds_sum", "", "0+120x10"),
                                          ("maskd_pool_limit", ',pool="stream_threads"', f"{limit}x10"),
                                          ("maskd_pool_limit", ',pool="compile_threads"', "7x10"))]
    seen = [{"labels": f'{{pod="{pod}"}}', "value": value} for pod, value in (("p", 0.5), ("q", 1))]
    asked = {"expr": queries.of_adapter(), "eval_time": "5m", "exp_samples": seen}
    (tmp_path / "cases.json").write_text(json.dumps(
        {"tests": [{"interval": "1m", "input_series": series, "promql_expr_test": [asked]}]}))
    done = subprocess.run([prometheus.program("promtool"), "test", "rules", tmp_path / "cases.json"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_case_that_expects_what_does_not_happen_fails(tmp_path):
    """So that a pass above says something: the same series, and the opposite expected."""
    (harmless,) = [case for case in CASES if case.what == "4 a minute"]
    done = run(tmp_path, [harmless._replace(at={15: {}})])
    assert done.returncode != 0
    assert "MaskdRefusesForLoad" in done.stdout + done.stderr
