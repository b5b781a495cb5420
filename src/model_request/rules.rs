//! The tables: which member may hold what. The reasons are in the module documentation.

/// What a value may be.
pub(super) struct Rule {
    /// Whether `null` may stand for it.
    pub null: bool,
    /// Whether `true` and `false` may.
    pub boolean: bool,
    /// Whether numbers may.
    pub number: bool,
    /// Which strings may.
    pub string: Strings,
    /// What the elements are, if an array may stand for it.
    pub array: Option<&'static Rule>,
    /// What the members are, if an object may stand for it.
    pub object: Option<&'static Fields>,
}

/// Which strings a value may be.
#[derive(Clone, Copy)]
pub(super) enum Strings {
    None,
    Any,
    /// One of a few, compared after decoding.
    OneOf(&'static [&'static str]),
    /// Begins, after decoding, with one of these.
    Prefix(&'static [&'static str]),
}

/// The members of an object.
pub(super) enum Fields {
    /// Any members, with any values. Names are not compared.
    Open,
    /// Those in the table only, each at most once.
    Closed {
        table: &'static [Field],
        /// Names that must occur.
        required: &'static [&'static str],
    },
}

/// One row of a table. A table has at most 64.
pub(super) struct Field {
    pub name: &'static str,
    pub rule: &'static Rule,
    pub treatment: Treatment,
}

/// What happens to a top-level member. Below the top all rows forward.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Treatment {
    /// Copied.
    Forward,
    /// Checked by its rule, not copied.
    Drop,
    /// Refused by name, so that the refusal can say which it was.
    Refuse,
}

const NOTHING: Rule = Rule {
    null: false,
    boolean: false,
    number: false,
    string: Strings::None,
    array: None,
    object: None,
};

pub(super) static ANY: Rule = Rule {
    null: true,
    boolean: true,
    number: true,
    string: Strings::Any,
    array: Some(&ANY),
    object: Some(&Fields::Open),
};
static STRING: Rule = Rule {
    string: Strings::Any,
    ..NOTHING
};
static STRING_OR_NULL: Rule = Rule {
    null: true,
    ..STRING_RULE
};
const STRING_RULE: Rule = Rule {
    string: Strings::Any,
    ..NOTHING
};
static BOOLEAN: Rule = Rule {
    boolean: true,
    ..NOTHING
};
static BOOLEAN_OR_NULL: Rule = Rule {
    boolean: true,
    null: true,
    ..NOTHING
};
static NUMBER: Rule = Rule {
    number: true,
    ..NOTHING
};

const fn forward(name: &'static str, rule: &'static Rule) -> Field {
    Field {
        name,
        rule,
        treatment: Treatment::Forward,
    }
}
const fn dropped(name: &'static str, rule: &'static Rule) -> Field {
    Field {
        name,
        rule,
        treatment: Treatment::Drop,
    }
}
const fn refused(name: &'static str) -> Field {
    Field {
        name,
        rule: &ANY,
        treatment: Treatment::Refuse,
    }
}
const fn one_of(names: &'static [&'static str]) -> Rule {
    Rule {
        string: Strings::OneOf(names),
        ..NOTHING
    }
}
const fn array_of(element: &'static Rule) -> Rule {
    Rule {
        array: Some(element),
        ..NOTHING
    }
}
const fn object_of(fields: &'static Fields) -> Rule {
    Rule {
        object: Some(fields),
        ..NOTHING
    }
}

/// The body.
pub(super) static REQUEST: Rule = object_of(&REQUEST_FIELDS);
static REQUEST_FIELDS: Fields = Fields::Closed {
    required: &["input"],
    table: &[
        forward("input", &INPUT),
        forward("instructions", &STRING_OR_NULL),
        forward("tools", &TOOLS),
        forward("tool_choice", &TOOL_CHOICE),
        forward("parallel_tool_calls", &BOOLEAN),
        forward("reasoning", &REASONING),
        forward("text", &TEXT),
        forward("include", &INCLUDE),
        dropped("model", &STRING),
        dropped("store", &BOOLEAN),
        dropped("prompt_cache_key", &STRING_OR_NULL),
        dropped("stream", &BOOLEAN),
        dropped("client_metadata", &ANY),
        dropped("service_tier", &STRING_OR_NULL),
        dropped("stream_options", &ANY),
        refused("previous_response_id"),
        refused("conversation"),
        refused("prompt"),
        refused("background"),
        refused("background_options"),
        refused("metadata"),
        refused("user"),
        refused("safety_identifier"),
        refused("moderation"),
        refused("access_programs"),
        refused("max_output_tokens"),
        refused("max_tool_calls"),
        refused("temperature"),
        refused("top_p"),
        refused("top_logprobs"),
        refused("truncation"),
        refused("context_management"),
        refused("prompt_cache_options"),
        refused("prompt_cache_retention"),
        refused("image"),
    ],
};

// === small members ===

static INCLUDE: Rule = array_of(&INCLUDABLE);
static INCLUDABLE: Rule = one_of(&["reasoning.encrypted_content"]);

static REASONING: Rule = Rule {
    null: true,
    ..object_of(&REASONING_FIELDS)
};
static REASONING_FIELDS: Fields = Fields::Closed {
    required: &[],
    table: &[
        forward("effort", &STRING_OR_NULL),
        forward("summary", &STRING_OR_NULL),
    ],
};

static TEXT: Rule = Rule {
    null: true,
    ..object_of(&TEXT_FIELDS)
};
static TEXT_FIELDS: Fields = Fields::Closed {
    required: &[],
    table: &[
        forward("verbosity", &STRING_OR_NULL),
        forward("format", &FORMAT),
    ],
};
static FORMAT: Rule = Rule {
    null: true,
    ..object_of(&FORMAT_FIELDS)
};
static FORMAT_FIELDS: Fields = Fields::Closed {
    required: &["type"],
    table: &[
        forward("type", &FORMAT_TYPE),
        forward("name", &STRING),
        forward("description", &STRING_OR_NULL),
        forward("strict", &BOOLEAN_OR_NULL),
        forward("schema", &ANY),
    ],
};
static FORMAT_TYPE: Rule = one_of(&["text", "json_schema"]);

// === tools ===

static TOOLS: Rule = array_of(&TOOL);
static TOOL: Rule = object_of(&TOOL_FIELDS);
static TOOL_FIELDS: Fields = Fields::Closed {
    required: &["type"],
    table: &[
        forward("type", &TOOL_TYPE),
        forward("name", &STRING),
        forward("description", &STRING_OR_NULL),
        forward("strict", &BOOLEAN_OR_NULL),
        forward("parameters", &ANY),
        forward("output_schema", &ANY),
        forward("format", &TOOL_FORMAT),
        forward("tools", &TOOLS_IN_NAMESPACE),
        forward("defer_loading", &BOOLEAN),
        forward("execution", &EXECUTION),
    ],
};
static TOOL_TYPE: Rule = one_of(&["function", "custom", "namespace", "tool_search"]);
static EXECUTION: Rule = one_of(&["client"]);
static TOOL_FORMAT: Rule = object_of(&TOOL_FORMAT_FIELDS);
static TOOL_FORMAT_FIELDS: Fields = Fields::Closed {
    required: &["type"],
    table: &[
        forward("type", &TOOL_FORMAT_TYPE),
        forward("syntax", &STRING),
        forward("definition", &STRING),
    ],
};
static TOOL_FORMAT_TYPE: Rule = one_of(&["text", "grammar"]);
static TOOLS_IN_NAMESPACE: Rule = array_of(&TOOL_IN_NAMESPACE);
static TOOL_IN_NAMESPACE: Rule = object_of(&TOOL_IN_NAMESPACE_FIELDS);
static TOOL_IN_NAMESPACE_FIELDS: Fields = Fields::Closed {
    required: &["type"],
    table: &[
        forward("type", &TOOL_IN_NAMESPACE_TYPE),
        forward("name", &STRING),
        forward("description", &STRING_OR_NULL),
        forward("strict", &BOOLEAN_OR_NULL),
        forward("parameters", &ANY),
        forward("output_schema", &ANY),
        forward("format", &TOOL_FORMAT),
        forward("defer_loading", &BOOLEAN),
    ],
};
static TOOL_IN_NAMESPACE_TYPE: Rule = one_of(&["function", "custom"]);

static TOOL_CHOICE: Rule = Rule {
    string: Strings::OneOf(&["auto", "none", "required"]),
    ..object_of(&TOOL_CHOICE_FIELDS)
};
static TOOL_CHOICE_FIELDS: Fields = Fields::Closed {
    required: &["type", "name"],
    table: &[
        forward("type", &TOOL_IN_NAMESPACE_TYPE),
        forward("name", &STRING),
    ],
};

// === input ===

static INPUT: Rule = array_of(&ITEM);
static ITEM: Rule = object_of(&ITEM_FIELDS);
static ITEM_FIELDS: Fields = Fields::Closed {
    required: &["type"],
    table: &[
        forward("type", &ITEM_TYPE),
        forward("id", &STRING_OR_NULL),
        forward("status", &STRING_OR_NULL),
        // message
        forward("role", &ROLE),
        forward("phase", &STRING_OR_NULL),
        forward("content", &CONTENT),
        // reasoning
        forward("summary", &PARTS),
        forward("encrypted_content", &STRING_OR_NULL),
        // calls of the harness's own tools
        forward("call_id", &STRING),
        forward("name", &STRING),
        forward("namespace", &STRING_OR_NULL),
        forward("arguments", &ARGUMENTS),
        forward("input", &STRING),
        forward("output", &CONTENT),
        // searches for deferred tools, which the harness itself makes
        forward("execution", &EXECUTION),
        forward("tools", &FOUND_TOOLS),
    ],
};
static ITEM_TYPE: Rule = one_of(&[
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "tool_search_call",
    "tool_search_output",
]);
/// Text of a call; an object for a search.
static ARGUMENTS: Rule = Rule {
    string: Strings::Any,
    object: Some(&Fields::Open),
    ..NOTHING
};
static FOUND_TOOLS: Rule = array_of(&TOOL);
static ROLE: Rule = one_of(&["user", "assistant", "developer", "system"]);
static CONTENT: Rule = Rule {
    null: true,
    string: Strings::Any,
    array: Some(&PART),
    ..NOTHING
};
static PARTS: Rule = array_of(&PART);
static PART: Rule = object_of(&PART_FIELDS);
static PART_FIELDS: Fields = Fields::Closed {
    required: &["type"],
    table: &[
        forward("type", &PART_TYPE),
        forward("text", &STRING),
        forward("refusal", &STRING),
        forward("image_url", &IMAGE_URL),
        forward("detail", &STRING_OR_NULL),
        forward("annotations", &ANNOTATIONS),
        forward("logprobs", &NO_LOGPROBS),
    ],
};
static PART_TYPE: Rule = one_of(&[
    "input_text",
    "input_image",
    "output_text",
    "refusal",
    "summary_text",
    "reasoning_text",
    "text",
]);
static IMAGE_URL: Rule = Rule {
    string: Strings::Prefix(&[
        "data:image/png;base64,",
        "data:image/jpeg;base64,",
        "data:image/gif;base64,",
        "data:image/webp;base64,",
    ]),
    ..NOTHING
};
/// What a model's earlier answer carried; only what names no stored file.
static ANNOTATIONS: Rule = array_of(&ANNOTATION);
static ANNOTATION: Rule = object_of(&ANNOTATION_FIELDS);
static ANNOTATION_FIELDS: Fields = Fields::Closed {
    required: &["type"],
    table: &[
        forward("type", &ANNOTATION_TYPE),
        forward("start_index", &NUMBER),
        forward("end_index", &NUMBER),
        forward("url", &STRING),
        forward("title", &STRING_OR_NULL),
    ],
};
static ANNOTATION_TYPE: Rule = one_of(&["url_citation"]);
static NO_LOGPROBS: Rule = array_of(&NOTHING_RULE);
static NOTHING_RULE: Rule = NOTHING;

/// Longer strings than this are not compared: no name and no prefix in the tables is.
pub(super) const LONGEST_COMPARED: usize = 64;
