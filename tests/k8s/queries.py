"""Every query that alerts, dashboard and docs have, and what it names."""

import json
import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
_MONITORING = ROOT / "k8s/components/monitoring"
_METRIC = re.compile(r"\b((?:maskd|process)_[a-z_]+)\b(?:\{([^}]*)\})?")
# What Prometheus and the operator put beside a server's own labels.
TARGET_LABELS = {"instance", "job", "namespace", "pod"}


def alerts() -> dict:
    groups = yaml.safe_load((_MONITORING / "prometheus_rule.yaml").read_text())["spec"]["groups"]
    return {rule["alert"]: rule["expr"] for group in groups for rule in group["rules"]}


def dashboard() -> dict:
    return json.loads((_MONITORING / "dashboard.json").read_text())


def panels() -> dict:
    """Of each panel its queries."""
    return {panel["title"]: [target["expr"] for target in panel["targets"]]
            for panel in dashboard()["panels"] if panel["type"] != "row"}


def questions() -> dict:
    """Of each question of docs/observing.md its query."""
    page = (ROOT / "docs/observing.md").read_text()
    return dict(re.findall(r"^\| ([^|`]+\?) \| `([^`]+)` \|", page, re.MULTILINE))


def of_adapter() -> str:
    """What the autoscaler's metric is of each pod, as the Prometheus adapter asks for it."""
    (rule,) = yaml.safe_load((ROOT / "k8s/components/autoscaling/adapter_rule.yaml").read_text())
    return rule["metricsQuery"].replace("<<.GroupBy>>", "pod").replace("<<.LabelMatchers>>", 'namespace="n"')


def plain(query: str) -> str:
    """As Grafana sends it."""
    return query.replace("$__rate_interval", "1m").replace("$job", ".*").replace("$instance", ".*")


def every() -> dict:
    """All of them by their place."""
    found = {f"alert {name}": query for name, query in alerts().items()}
    found |= {f"question {name}": query for name, query in questions().items()}
    for title, each in panels().items():
        found |= {f"panel {title} {i}": plain(query) for i, query in enumerate(each)}
    return found | {"autoscaler": of_adapter()}


def named(query: str) -> list:
    """The metrics of a query, each with its matchers: [(name, {label: (operator, value)})]."""
    return [(name, {label: (operator, value) for label, operator, value in
                    re.findall(r'(\w+)(=~|!=|=)"([^"]*)"', matchers)})
            for name, matchers in _METRIC.findall(query)]


def grouped(query: str) -> set:
    """The labels that it groups or joins by."""
    lists = re.findall(r"\b(?:by|on|without|ignoring)\s*\(([^)]*)\)", query)
    return {label.strip() for each in lists for label in each.split(",")}
