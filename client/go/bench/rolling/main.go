// Command rolling is an engine of tests/interop/rolling_restart.py, as tests/interop/README.md ("Rolling restart")
// says it.
//
//	rolling ADDRESSES LOGITS_WIDTH SEED PAUSE_MS KIND SOURCE [KIND SOURCE]...
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"maskd.io/maskd"
)

const (
	rows, longest, reportEvery, end = 4, 48, 20, 256
	timeout                         = time.Minute
)

func main() {
	if len(os.Args) < 7 {
		fail("usage: rolling ADDRESSES LOGITS_WIDTH SEED PAUSE_MS KIND SOURCE [KIND SOURCE]...")
	}
	width, digest := number(os.Args[2]), number(os.Args[3])
	pause := time.Duration(number(os.Args[4])) * time.Millisecond
	var grammars []maskd.Grammar
	for i := 5; i+1 < len(os.Args); i += 2 {
		grammars = append(grammars, maskd.Grammar{Kind: os.Args[i], Source: os.Args[i+1]})
	}
	ctx := context.Background()
	stream, err := maskd.OpenFailover(ctx, maskd.FailoverOptions{Addresses: strings.Split(os.Args[1], ","),
		Stream: maskd.StreamOptions{LogitsWidth: uint32(width)}})
	check(err)
	words := int(width+31) / 32
	order, lengths, bitmask := make([]maskd.RowID, rows), [rows]int{}, make([]uint32, rows*words)
	step := maskd.NewStep()
	open := func(row maskd.RowID) { step.Open(row, grammars[row%uint64(len(grammars))]).WaitForCompile(timeout / 2) }
	for i := range order {
		order[i] = maskd.RowID(i)
		open(order[i])
	}
	for steps := 1; ; steps++ {
		result := run(ctx, stream, step)
		check(result.CopyMasks(order, bitmask, words))
		step.Clear()
		for i := range order {
			mask := bitmask[i*words : (i+1)*words]
			for _, word := range mask {
				digest = (digest ^ uint64(word)) * 1099511628211
			}
			token := choose(mask, (digest>>33)%width, width)
			if lengths[i]++; token != end && lengths[i] < longest {
				step.Take(order[i], maskd.TokenID(token))
				continue
			}
			step.Close(order[i])
			order[i], lengths[i] = order[i]+rows+1, 0
			open(order[i])
		}
		if steps%reportEvery == 0 {
			_, err := fmt.Printf("%d %d %016x\n", steps, stream.Moves(), digest)
			check(err)
		}
		time.Sleep(pause)
	}
}

// run gives the answer to a step that went well.
func run(ctx context.Context, stream *maskd.FailoverStream, step *maskd.Step) *maskd.Result {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := stream.Submit(limited, step)
	check(err)
	result, err := stream.Collect(limited)
	check(err)
	for _, row := range result.Rows {
		if row.Err != nil {
			fail(fmt.Sprintf("step %d, row %d: %v", result.Step, row.ID, row.Err))
		}
	}
	return result
}

// choose is the first allowed token at start or behind it, round and round.
func choose(words []uint32, start, width uint64) uint64 {
	for words[start/32]>>(start%32)&1 == 0 {
		start = (start + 1) % width
	}
	return start
}

func number(text string) uint64 {
	value, err := strconv.ParseUint(text, 10, 64)
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}
