package maskd

import pb "maskd.io/maskd/maskdv1"

// Target says which grammar: a [GrammarID] or a [Grammar].
type Target interface {
	setOnRow(open *pb.OpenRow)
	setOnCompile(request *pb.CompileRequest)
	setOnCheck(request *pb.CheckRequest)
	setOnExplain(request *pb.ExplainRequest)
}

// GrammarID is the id of a grammar compiled before: 64 lower-case hexadecimal digits.
type GrammarID string

// Grammar is a grammar by its text. Options and Documents may be absent.
type Grammar struct {
	// Kind is the front end that reads the source, such as "json_schema".
	Kind string
	// Source is the text.
	Source string
	// Options belong to the grammar's meaning; nil is every option's default.
	Options *pb.GrammarOptions
	// Documents are what a $ref of a schema may lead to.
	Documents []*pb.Document
}

// JSONSchema is a grammar of the JSON texts that a schema takes.
func JSONSchema(schema string) Grammar { return Grammar{Kind: "json_schema", Source: schema} }

// JSONObject is a grammar of all JSON objects.
func JSONObject() Grammar { return Grammar{Kind: "json_object"} }

// Regex is a grammar of the texts that a regular expression matches as a whole.
func Regex(pattern string) Grammar { return Grammar{Kind: "regex", Source: pattern} }

// Choice is a grammar of a JSON array of strings, one of which is the text.
func Choice(jsonArray string) Grammar { return Grammar{Kind: "choice", Source: jsonArray} }

// EBNF is a grammar in the dialect of docs/ebnf.md.
func EBNF(source string) Grammar { return Grammar{Kind: "ebnf", Source: source} }

// Lark is a grammar in the dialect of docs/lark.md.
func Lark(source string) Grammar { return Grammar{Kind: "lark", Source: source} }

func (g Grammar) message() *pb.Grammar {
	return &pb.Grammar{Kind: g.Kind, Source: g.Source, Options: g.Options, Documents: g.Documents}
}

func (id GrammarID) setOnRow(open *pb.OpenRow) {
	open.Target = &pb.OpenRow_GrammarId{GrammarId: string(id)}
}

func (id GrammarID) setOnCompile(request *pb.CompileRequest) {
	request.Target = &pb.CompileRequest_GrammarId{GrammarId: string(id)}
}

func (id GrammarID) setOnCheck(request *pb.CheckRequest) {
	request.Target = &pb.CheckRequest_GrammarId{GrammarId: string(id)}
}

func (id GrammarID) setOnExplain(request *pb.ExplainRequest) {
	request.Target = &pb.ExplainRequest_GrammarId{GrammarId: string(id)}
}

func (g Grammar) setOnRow(open *pb.OpenRow) { open.Target = &pb.OpenRow_Grammar{Grammar: g.message()} }

func (g Grammar) setOnCompile(request *pb.CompileRequest) {
	request.Target = &pb.CompileRequest_Grammar{Grammar: g.message()}
}

func (g Grammar) setOnCheck(request *pb.CheckRequest) {
	request.Target = &pb.CheckRequest_Grammar{Grammar: g.message()}
}

func (g Grammar) setOnExplain(request *pb.ExplainRequest) {
	request.Target = &pb.ExplainRequest_Grammar{Grammar: g.message()}
}
