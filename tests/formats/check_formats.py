#!/usr/bin/env python3
"""Each format against validators that others wrote: check_formats.py FORMAT_TEXTS [WALKS [SEED]].

Walks: what a random walk under the masks of a format writes, its validator accepts. Mutants: of walks
and samples with a few characters changed, the masks take only what the validator accepts and, where the
two mean the same set, all of that. What differs by intent is told by `left_out`, format by format.
"""
import datetime
import email.headerregistry
import ipaddress
import json
import random
import re
import subprocess
import sys
import uuid

import fqdn
import idna
import isoduration
import jsonpointer
import rfc3986_validator
import uri_template
from rfc3339_validator import validate_rfc3339

SHOWN = 10
BYTES = 40
MORE = list("0123456789abcxzAFTZ.:/-+~%#@?&[]{}()!$'*;=,_\"\\ \n") + [
    "é", "ß", "中", "א", "\u0301", "\u021f", "\u0323", "\u0345", "·", "l", "\u200c", "\u200d", "ب", "ۄ",
    "٠", "۰", "क", "\u094d", "\u09c7", "\u09be", "・", "か", "\u3099", "。", "𐌀", "\U0010fffd"]


def raises(call):
    """A validator of one that raises."""
    def is_valid(text):
        try:
            return call(text) is not False
        except Exception:  # noqa: BLE001 - whatever it raises is its way to say no
            return False
    return is_valid


def is_date(text):
    return bool(re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text)) and raises(datetime.date.fromisoformat)(text)


def leap_is_right(time):
    """Whether second 60 of a time is at 23:59 UTC, with an offset of quarters of an hour."""
    sign = time[-6:-5] if time[-1] not in "Zz" else "+"
    hours, minutes = (time[-5:-3], time[-2:]) if time[-1] not in "Zz" else ("0", "0")
    offset = int(hours) * 60 + int(minutes)
    local = int(time[:2]) * 60 + int(time[3:5])
    return (local + (-offset if sign == "+" else offset) - 1439) % 1440 == 0 and offset % 15 == 0


def is_date_time(text):
    """The package knows no leap seconds; the note of RFC 3339 lets it take a blank for the T."""
    if not text.isascii() or not text.isprintable() or text[10:11] not in ("T", "t"):
        return False
    if text[16:19] != ":60":
        return validate_rfc3339(text.upper()) and is_date(text[:10])
    plain = text[:16] + ":59" + text[19:]
    return validate_rfc3339(plain.upper()) and is_date(text[:10]) and leap_is_right(text[11:])


def is_time(text):
    return text.isascii() and "T" not in text.upper() and is_date_time("2000-01-01T" + text)


def is_duration(text):
    if not text.isascii() or not text.endswith(tuple("DMYWHS")):
        return False
    return raises(isoduration.parse_duration)(text)


def is_email(text):
    """An addr-spec; the package is of RFC 5322, which has no address literals of IPv6 to speak of."""
    if re.search(r"@\[[^@]*\]$", text):
        return True
    address = raises(lambda spec: email.headerregistry.Address(addr_spec=spec))
    return "@" in text and address(text)


def is_hostname(text):
    """The package takes a dot, or a line feed, at the end."""
    fits = text.isascii() and text.isprintable() and text and not text.endswith(".")
    return bool(fits) and fqdn.FQDN(text, min_labels=1).is_valid


def is_idn_hostname(text):
    return is_hostname(text) or (not re.search("[.。．｡]$", text) and raises(idna.encode)(text))


def is_relative_pointer(text):
    match = re.match("0|[1-9][0-9]*", text)
    rest = text[match.end():] if match else None
    return rest is not None and (rest == "#" or raises(jsonpointer.JsonPointer)(rest))


def is_uri_template(text):
    """The package knows prefixes of up to three digits only, and few encoded characters in names."""
    text = re.sub(r"(:[1-9][0-9]{2})[0-9](?=[,}])", r"\1", text)
    return raises(uri_template.validate)(re.sub("%[0-9A-Fa-f]{2}", "x", text))


def is_uuid(text):
    """The package takes hyphens anywhere, and what int() does."""
    digits = text.replace("-", "")
    return (raises(uuid.UUID)(text) and len(text) == 36 and all(text[at] == "-" for at in (8, 13, 18, 23))
            and len(digits) == 32 and digits.isalnum() and digits.isascii())


def is_beyond_ascii(char, in_query):
    """RFC 3987, section 2.2: ucschar and, in a query, iprivate."""
    code = ord(char)
    if 0xE000 <= code <= 0xF8FF or code >= 0xF0000:
        return in_query and code & 0xFFFF <= 0xFFFD
    last = code & 0xFFFF <= 0xFFFD and not 0xFDD0 <= code <= 0xFDEF and not 0xFFF0 <= code <= 0xFFFD
    return code >= 0xA0 and last and not 0xE0000 <= code < 0xE1000


def by_uri(rule):
    def is_valid(text):
        # The package takes a line feed at the end.
        fits = text.isascii() and not text.endswith("\n")
        return fits and bool(rfc3986_validator.validate_rfc3986(text, rule=rule))
    return is_valid


def by_iri(rule):
    """Characters beyond ASCII are as letters, but in the scheme."""
    def is_valid(text):
        path, mark, rest = text.partition("?")
        query, hash_mark, fragment = rest.partition("#")
        if "#" in path:
            path, mark, query, hash_mark, fragment = text, "", "", "", ""
        parts = [(path, False), (mark, False), (query, True), (hash_mark, False), (fragment, False)]
        plain = "".join("x" if ord(c) > 0x7F and is_beyond_ascii(c, in_query) else c
                        for part, in_query in parts for c in part)
        scheme = text.partition(":")[0]
        if not scheme.isascii() and not re.search("[/?#]", scheme) and plain.partition(":")[1]:
            return False
        return by_uri(rule)(plain)
    return is_valid


def has_a_label(text):
    return "xn--" in text.lower()


def nothing(_text):
    return False


# Format: validator, what it takes and we leave out (None: anything), samples.
FORMATS = {
    "date": (is_date, nothing, ["2024-02-29", "1999-12-31"]),
    "time": (is_time, nothing, ["08:30:06.28Z", "05:29:60+05:30", "12:00:00-23:59"]),
    "date-time": (is_date_time, nothing, ["1990-12-31T15:59:60-08:00", "2024-02-29t01:02:03.5z"]),
    "duration": (is_duration, None, ["P1Y2M3DT4H5M6S", "P3W"]),
    "email": (is_email, None, ["a.b@example.com", "\"a b\"@x.y", "a@[1.2.3.4]"]),
    "hostname": (is_hostname, has_a_label, ["www.example.com", "a-b.c"]),
    "idn-hostname": (is_idn_hostname, None, ["www.é.com", "實例.測試", "אב.com", "l·l"]),
    "ipv4": (raises(ipaddress.IPv4Address), nothing, ["192.168.0.1"]),
    "ipv6": (raises(ipaddress.IPv6Address), lambda text: "%" in text,
             ["1:2:3:4:5:6:7:8", "::1.2.3.4", "1::8"]),
    "uri": (by_uri("URI"), nothing, ["http://u@h:1/p?q#f", "a:b", "http://[::1]/"]),
    "uri-reference": (by_uri("URI_reference"), nothing, ["//h/p", "a/b", "?q#f", "a:b"]),
    "iri": (by_iri("URI"), nothing, ["http://é/ü?q"]),
    "iri-reference": (by_iri("URI_reference"), nothing, ["é/ü", "//中"]),
    "uri-template": (is_uri_template, None, ["/{a}/{?b,c*,d:12}", "{+x.y}"]),
    "json-pointer": (raises(jsonpointer.JsonPointer), nothing, ["/a~0b/~1", "/0/"]),
    "relative-json-pointer": (is_relative_pointer, nothing, ["0#", "12/a", "1"]),
    "uuid": (is_uuid, nothing, ["2eb8aa08-AA98-11ea-b4aa-73b441d16380"]),
}


class Checker:
    def __init__(self, program, walks, seed):
        self.random = random.Random(seed)
        self.walks = walks
        self.program = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.faults = 0

    def ask(self, name, walks, texts):
        request = {"format": name, "walks": walks, "bytes": BYTES, "seed": self.random.randrange(1 << 30),
                   "texts": [json.dumps(text, ensure_ascii=self.random.random() < 0.5) for text in texts]}
        self.program.stdin.write(json.dumps(request) + "\n")
        self.program.stdin.flush()
        return json.loads(self.program.stdout.readline())

    def mutant(self, text):
        for _ in range(self.random.randint(1, 2)):
            at = self.random.randint(0, len(text))
            cut = self.random.choice([0, 1, 1, 3])
            put = self.random.choice(["", self.random.choice(MORE), text[at:at + 4]])
            text = text[:at] + put + text[at + cut:]
        return text

    def fault(self, name, what, text):
        self.faults += 1
        if self.faults <= SHOWN:
            print(f"{name}: {what}: {text!r}")

    def check(self, name, is_valid, left_out, samples):
        walks = [json.loads(walk) for walk in self.ask(name, self.walks, [])["walks"]]
        for walk in walks:
            if not is_valid(walk):
                self.fault(name, "a walk is not valid", walk)
        parents = samples + [walk for walk in walks if len(walk) < 60]
        mutants = samples + [self.mutant(self.random.choice(parents)) for _ in range(4 * self.walks)]
        taken = self.ask(name, 0, mutants)["verdicts"]
        for mutant, is_taken in zip(mutants, taken):
            valid = is_valid(mutant)
            if is_taken and not valid:
                self.fault(name, "taken and not valid", mutant)
            elif valid and not is_taken and left_out is not None and not left_out(mutant):
                self.fault(name, "valid and refused", mutant)
        print(f"{name}: {len(walks)} walks, {len(mutants)} mutants, {sum(taken)} of them taken", flush=True)


def main():
    checker = Checker(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 150,
                      int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    for name, (is_valid, left_out, samples) in FORMATS.items():
        checker.check(name, is_valid, left_out, samples)
    print(f"{checker.faults} faults")
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main())
