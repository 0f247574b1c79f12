// Package maskd is a client of maskd, which turns grammars into token masks for engines of language
// models.
//
//	client, err := maskd.Connect(ctx, "unix:/run/maskd.sock", nil)
//	compiled, err := client.Compile(ctx, maskd.JSONSchema(`{"type": "object"}`))
//	stream, err := client.OpenStream(ctx, maskd.StreamOptions{LogitsWidth: 128256})
//	step := maskd.NewStep().Open(7, maskd.GrammarID(compiled.GetGrammarId()))
//	for {
//		stream.Submit(step)                  // returns at once
//		logits := forwardPass()              // the server fills the masks meanwhile
//		result, err := stream.Collect(ctx)
//		result.Apply(7, logits)              // in place
//		step.Clear().Take(7, sample(logits))
//	}
//
// A mask is ceil(width / 32) words; bit t%32, least significant first, of word t/32 is token t, 1 means
// allowed. Words are made of the wire's bytes by copying: nothing of a message is viewed as another type.
//
// Errors are of type *[Error], with the canonical code, the server's reason and the place in the caller's
// own source. What is wrong with one row is in its [Row].
//
// A [FailoverStream] is a stream over several servers that outlives them.
package maskd
