// Command bench is the loop of bench/client_loop_bench.cc in Go: what a step of the client costs, every mask
// made dense.
//
//	bench ADDRESS LOGITS_WIDTH ROWS STEPS
//
// Each row writes [a-z]* with one token a step. Prints the p50 and p99 of the time from where a step's message
// begins until its masks lie in the engine's bitmask, in microseconds.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"maskd.io/maskd"
)

const warmUp = 200

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: bench ADDRESS LOGITS_WIDTH ROWS STEPS")
		os.Exit(2)
	}
	numbers := make([]int, 3)
	for i := range numbers {
		numbers[i], _ = strconv.Atoi(os.Args[2+i])
	}
	micros, err := run(context.Background(), os.Args[1], numbers[0], numbers[1], numbers[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	slices.Sort(micros)
	fmt.Printf("%.1f %.1f\n", micros[len(micros)/2], micros[len(micros)*99/100])
}

func run(ctx context.Context, address string, width, rows, steps int) ([]float64, error) {
	client, err := maskd.Connect(ctx, address, nil)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	stream, err := client.OpenStream(ctx, maskd.StreamOptions{LogitsWidth: uint32(width)})
	if err != nil {
		return nil, err
	}
	order := make([]maskd.RowID, rows)
	step := maskd.NewStep().WaitForCompile(5 * time.Second)
	for i := range order {
		order[i] = maskd.RowID(i)
		step.Open(order[i], maskd.Regex("[a-z]*"))
	}
	words := (width + 31) / 32
	bitmask := make([]uint32, rows*words)
	var micros []float64
	for i := range warmUp + steps {
		start := time.Now()
		if i > 0 {
			step.Clear()
			for _, row := range order {
				step.Take(row, 'a')
			}
		}
		if _, err := stream.Submit(step); err != nil {
			return nil, err
		}
		result, err := stream.Collect(ctx)
		if err != nil {
			return nil, err
		}
		if err := result.CopyMasks(order, bitmask, words); err != nil {
			return nil, err
		}
		if i >= warmUp {
			micros = append(micros, float64(time.Since(start).Nanoseconds())/1000)
		}
	}
	return micros, stream.Close(ctx)
}
