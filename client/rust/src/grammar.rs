use crate::v1;

/// The id of a grammar compiled before: 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GrammarId(pub String);

impl From<String> for GrammarId {
    fn from(id: String) -> Self {
        Self(id)
    }
}

impl From<&str> for GrammarId {
    fn from(id: &str) -> Self {
        Self(id.to_string())
    }
}

/// A grammar by its text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grammar {
    /// The front end that reads the source, such as `json_schema`.
    pub kind: String,
    /// The text.
    pub source: String,
    /// Part of the grammar's meaning; none is every option's default.
    pub options: Option<v1::GrammarOptions>,
    /// What a `$ref` of a schema may lead to.
    pub documents: Vec<v1::Document>,
}

impl Grammar {
    /// A grammar of any kind that the server has.
    pub fn new(kind: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            source: source.into(),
            ..Self::default()
        }
    }

    /// The JSON texts that a schema takes.
    pub fn json_schema(schema: impl Into<String>) -> Self {
        Self::new("json_schema", schema)
    }

    /// All JSON objects.
    pub fn json_object() -> Self {
        Self::new("json_object", "")
    }

    /// The texts that a regular expression matches as a whole.
    pub fn regex(pattern: impl Into<String>) -> Self {
        Self::new("regex", pattern)
    }

    /// One string of a JSON array of them.
    pub fn choice(json_array: impl Into<String>) -> Self {
        Self::new("choice", json_array)
    }

    /// A grammar in the dialect of `docs/ebnf.md`.
    pub fn ebnf(source: impl Into<String>) -> Self {
        Self::new("ebnf", source)
    }

    /// A grammar in the dialect of `docs/lark.md`.
    pub fn lark(source: impl Into<String>) -> Self {
        Self::new("lark", source)
    }

    /// The same with options.
    pub fn with_options(mut self, options: v1::GrammarOptions) -> Self {
        self.options = Some(options);
        self
    }
}

impl From<Grammar> for v1::Grammar {
    fn from(grammar: Grammar) -> Self {
        Self {
            kind: grammar.kind,
            source: grammar.source,
            options: grammar.options,
            documents: grammar.documents,
        }
    }
}

/// Which grammar: by its id or by its text.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// One compiled before.
    Id(GrammarId),
    /// One by its text.
    Text(Grammar),
}

impl From<GrammarId> for Target {
    fn from(id: GrammarId) -> Self {
        Self::Id(id)
    }
}

impl From<Grammar> for Target {
    fn from(grammar: Grammar) -> Self {
        Self::Text(grammar)
    }
}

/// The same oneof of four messages.
macro_rules! to_wire {
    ($($module:ident),*) => {$(
        impl From<Target> for v1::$module::Target {
            fn from(target: Target) -> Self {
                match target {
                    Target::Id(id) => Self::GrammarId(id.0),
                    Target::Text(grammar) => Self::Grammar(grammar.into()),
                }
            }
        }
    )*};
}

to_wire!(open_row, compile_request, check_request, explain_request);
