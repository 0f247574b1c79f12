"""load.py ADDRESS: an engine that keeps a server's thread at work: each step takes many tokens back and gives them again,
so its rows do not grow, and the next one is there before it is done."""

import sys

import maskd

ROWS, TOKENS, AHEAD = 64, 500, 8

client = maskd.Client(sys.argv[1])
stream = client.open_stream(320)
grammar = client.compile(maskd.Grammar.regex("([a-z]{3}[0-9]{2})*"))
text = list(b"abc12" * (TOKENS // 5))
step = maskd.Step()
for row in range(ROWS):
    step.open(row, grammar, tokens=text)
stream.run(step)
step.clear()
for row in range(ROWS):
    step.rollback(row, TOKENS).take(row, text)
while True:
    while stream.in_flight < AHEAD:
        stream.submit(step)
    stream.collect(60)
