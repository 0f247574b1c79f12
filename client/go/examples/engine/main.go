// Command engine writes one JSON text with a model that only has opinions about length: each step masks random
// logits and takes the greatest. The server has its embedded vocabulary of single bytes.
//
//	maskd & go run ./examples/engine unix:/tmp/maskd.sock
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand"
	"os"
	"slices"

	"maskd.io/maskd"
)

const row, width, end = 7, 320, 256

func main() {
	ctx := context.Background()
	client, err := maskd.Connect(ctx, os.Args[1], nil)
	check(err)
	compiled, err := client.Compile(ctx, maskd.JSONSchema(`{"type": "object", "required": ["age"],
		"properties": {"age": {"type": "integer"}}, "additionalProperties": false}`))
	check(err)
	stream, err := client.OpenStream(ctx, maskd.StreamOptions{LogitsWidth: width})
	check(err)
	left := uint32(40)
	step := maskd.NewStep().OpenWith(row, maskd.GrammarID(compiled.GetGrammarId()),
		maskd.OpenOptions{RemainingTokens: &left})
	for token := 0; token != end; {
		_, err := stream.Submit(step) // returns at once
		check(err)
		logits := make([]float32, width) // the forward pass
		for i := range logits {
			logits[i] = rand.Float32()
		}
		result, err := stream.Collect(ctx)
		check(err)
		check(result.Apply(row, logits)) // in place
		token = slices.Index(logits, slices.Max(logits))
		if token != end {
			fmt.Printf("%c", token)
		}
		step.Clear().Take(row, maskd.TokenID(token))
	}
	fmt.Println()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
