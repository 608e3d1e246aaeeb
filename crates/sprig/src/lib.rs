//! The template functions of Masterminds/sprig v3.
//!
//! Owns: every function of sprig's text function map but `env` and `expandenv`, which Helm takes out; their Go signatures
//! and error texts.
//! Does not own: Helm's own functions (`toYaml`, `include`, `lookup`, Helm's JSON functions); the world ([`Host`]).
//! Upstream: github.com/Masterminds/sprig/v3 v3.3.0.
//! The surprising thing: sprig reports most failures by panicking, which text/template turns into an error of the call; so
//! a function and its `must` variant mostly differ only in the text.

mod addresses;
mod args;
mod case;
mod cast;
mod cost;
mod crypto;
mod dates;
mod defaults;
mod dicts;
mod encoding;
mod flow;
mod host;
mod layout;
mod lists;
mod math;
mod network;
mod paths;
mod random;
mod re2;
mod reflect;
mod regex;
mod semver;
mod strings;
mod time_methods;
mod urls;

use std::sync::Arc;

use go_template::{Context, FuncError, FuncMap, Type};
use go_value::{Kind, ListType, MapType, Value};

use args::Outcome;
pub use host::{FixedHost, Host};
pub use layout::{named_zone, parse as parse_time, parse_duration};
pub use re2::go_regexp_is_too_large;
pub use regex::go_regexp_matches;

const S: Type = Type::STRING;
const INT: Type = Type::INT;
const INT64: Type = Type::INT64;
const UINT32: Type = Type::Basic(Kind::Uint32);
const FLOAT: Type = Type::FLOAT64;
const BOOL: Type = Type::BOOL;
const ANY: Type = Type::Any;
const LIST: Type = Type::LIST;
const LISTS: Type = Type::List(ListType::LISTS);
const STRINGS: Type = Type::STRINGS;
const INTS: Type = Type::List(ListType::INTS);
const MAP: Type = Type::MAP;
const STRING_MAP: Type = Type::Map(MapType::STRINGS);
const TIME: Type = Type::TIME;
const SEMVER: Type = Type::Named("*semver.Version", Kind::Pointer);
const CERT: Type = Type::Named("sprig.certificate", Kind::Struct);

/// How a function is called: with its arguments, or with the world too. One that adds to a map it was given says what.
#[derive(Clone, Copy)]
enum Call {
    Pure(fn(&[Value]) -> Outcome),
    Growing(fn(&[Value]) -> dicts::Grown),
    Hosted(fn(&dyn Host, &[Value]) -> Outcome),
}

/// A function: name, parameters, whether the last one repeats, result, code.
type Entry = (&'static str, &'static [Type], bool, Type, Call);

const fn pure(name: &'static str, params: &'static [Type], result: Type, call: fn(&[Value]) -> Outcome) -> Entry {
    (name, params, false, result, Call::Pure(call))
}

const fn many(name: &'static str, params: &'static [Type], result: Type, call: fn(&[Value]) -> Outcome) -> Entry {
    (name, params, true, result, Call::Pure(call))
}

const fn hosted(
    name: &'static str,
    params: &'static [Type],
    result: Type,
    call: fn(&dyn Host, &[Value]) -> Outcome,
) -> Entry {
    (name, params, false, result, Call::Hosted(call))
}

/// All functions, by family.
#[rustfmt::skip]
const TABLE: &[Entry] = &[
    pure("hello", &[], S, strings::hello),

    // Strings
    pure("abbrev", &[INT, S], S, strings::abbrev),
    pure("abbrevboth", &[INT, INT, S], S, strings::abbrevboth),
    pure("camelcase", &[S], S, case::camelcase),
    many("cat", &[ANY], S, strings::cat),
    pure("contains", &[S, S], BOOL, strings::contains),
    pure("hasPrefix", &[S, S], BOOL, strings::has_prefix),
    pure("hasSuffix", &[S, S], BOOL, strings::has_suffix),
    pure("indent", &[INT, S], S, strings::indent),
    pure("initials", &[S], S, strings::initials),
    pure("join", &[S, ANY], S, strings::join),
    pure("kebabcase", &[S], S, case::kebabcase),
    pure("lower", &[S], S, strings::lower),
    pure("nindent", &[INT, S], S, strings::nindent),
    pure("nospace", &[S], S, strings::nospace),
    pure("plural", &[S, S, INT], S, strings::plural),
    many("quote", &[ANY], S, strings::quote),
    pure("repeat", &[INT, S], S, strings::repeat_text),
    pure("replace", &[S, S, S], S, strings::replace),
    pure("snakecase", &[S], S, case::snakecase),
    pure("sortAlpha", &[ANY], STRINGS, strings::sort_alpha),
    pure("split", &[S, S], STRING_MAP, strings::split),
    pure("splitList", &[S, S], STRINGS, strings::split_list),
    pure("splitn", &[S, INT, S], STRING_MAP, strings::splitn),
    many("squote", &[ANY], S, strings::squote),
    pure("substr", &[INT, INT, S], S, strings::substr),
    pure("swapcase", &[S], S, case::swapcase),
    pure("title", &[S], S, strings::title),
    pure("toString", &[ANY], S, strings::to_string),
    pure("toStrings", &[ANY], STRINGS, strings::to_strings),
    pure("trim", &[S], S, strings::trim),
    pure("trimAll", &[S, S], S, strings::trim_all),
    pure("trimall", &[S, S], S, strings::trim_all),
    pure("trimPrefix", &[S, S], S, strings::trim_prefix),
    pure("trimSuffix", &[S, S], S, strings::trim_suffix),
    pure("trunc", &[INT, S], S, strings::trunc),
    pure("untitle", &[S], S, strings::untitle),
    pure("upper", &[S], S, strings::upper),
    pure("wrap", &[INT, S], S, strings::wrap),
    pure("wrapWith", &[INT, S, S], S, strings::wrap_with),

    // Randomness
    hosted("randAlpha", &[INT], S, random::rand_alpha),
    hosted("randAlphaNum", &[INT], S, random::rand_alpha_num),
    hosted("randAscii", &[INT], S, random::rand_ascii),
    hosted("randBytes", &[INT], S, random::rand_bytes),
    hosted("randInt", &[INT, INT], INT, random::rand_int),
    hosted("randNumeric", &[INT], S, random::rand_numeric),
    hosted("shuffle", &[S], S, random::shuffle),
    hosted("uuidv4", &[], S, random::uuidv4),

    // Numbers
    many("add", &[ANY], INT64, math::add),
    pure("add1", &[ANY], INT64, math::add1),
    pure("add1f", &[ANY], FLOAT, math::add1f),
    many("addf", &[ANY], FLOAT, math::addf),
    pure("atoi", &[S], INT, math::atoi),
    many("biggest", &[ANY, ANY], INT64, math::max),
    pure("ceil", &[ANY], FLOAT, math::ceil),
    pure("div", &[ANY, ANY], INT64, math::div),
    many("divf", &[ANY, ANY], FLOAT, math::divf),
    pure("float64", &[ANY], FLOAT, math::float64),
    pure("floor", &[ANY], FLOAT, math::floor),
    pure("int", &[ANY], INT, math::to_int),
    pure("int64", &[ANY], INT64, math::int64),
    many("max", &[ANY, ANY], INT64, math::max),
    many("maxf", &[ANY, ANY], FLOAT, math::maxf),
    many("min", &[ANY, ANY], INT64, math::min),
    many("minf", &[ANY, ANY], FLOAT, math::minf),
    pure("mod", &[ANY, ANY], INT64, math::modulo),
    many("mul", &[ANY, ANY], INT64, math::mul),
    many("mulf", &[ANY, ANY], FLOAT, math::mulf),
    many("round", &[ANY, INT, FLOAT], FLOAT, math::round),
    many("seq", &[INT], S, math::seq),
    pure("sub", &[ANY, ANY], INT64, math::sub),
    many("subf", &[ANY, ANY], FLOAT, math::subf),
    pure("toDecimal", &[ANY], INT64, math::to_decimal),
    pure("until", &[INT], INTS, math::until),
    pure("untilStep", &[INT, INT, INT], INTS, math::until_step),

    // Lists
    pure("append", &[ANY, ANY], LIST, lists::append),
    pure("chunk", &[INT, ANY], LISTS, lists::chunk),
    pure("compact", &[ANY], LIST, lists::compact),
    many("concat", &[ANY], ANY, lists::concat),
    pure("first", &[ANY], ANY, lists::first),
    pure("has", &[ANY, ANY], BOOL, lists::has),
    pure("initial", &[ANY], LIST, lists::initial),
    pure("last", &[ANY], ANY, lists::last),
    many("list", &[ANY], LIST, lists::list),
    pure("mustAppend", &[ANY, ANY], LIST, lists::append),
    pure("mustChunk", &[INT, ANY], LISTS, lists::chunk),
    pure("mustCompact", &[ANY], LIST, lists::compact),
    pure("mustFirst", &[ANY], ANY, lists::first),
    pure("mustHas", &[ANY, ANY], BOOL, lists::has),
    pure("mustInitial", &[ANY], LIST, lists::initial),
    pure("mustLast", &[ANY], ANY, lists::last),
    pure("mustPrepend", &[ANY, ANY], LIST, lists::prepend),
    pure("mustPush", &[ANY, ANY], LIST, lists::append),
    pure("mustRest", &[ANY], LIST, lists::rest),
    pure("mustReverse", &[ANY], LIST, lists::reverse),
    many("mustSlice", &[ANY, ANY], ANY, lists::slice),
    pure("mustUniq", &[ANY], LIST, lists::uniq),
    many("mustWithout", &[ANY, ANY], LIST, lists::without),
    pure("prepend", &[ANY, ANY], LIST, lists::prepend),
    pure("push", &[ANY, ANY], LIST, lists::append),
    pure("rest", &[ANY], LIST, lists::rest),
    pure("reverse", &[ANY], LIST, lists::reverse),
    many("slice", &[ANY, ANY], ANY, lists::slice),
    many("tuple", &[ANY], LIST, lists::list),
    pure("uniq", &[ANY], LIST, lists::uniq),
    many("without", &[ANY, ANY], LIST, lists::without),

    // Dictionaries
    pure("deepCopy", &[ANY], ANY, dicts::deep_copy),
    many("dict", &[ANY], MAP, dicts::dict),
    many("dig", &[ANY], ANY, dicts::dig),
    pure("get", &[MAP, S], ANY, dicts::get),
    pure("hasKey", &[MAP, S], BOOL, dicts::has_key),
    many("keys", &[MAP], STRINGS, dicts::keys),
    ("merge", &[MAP, MAP], true, ANY, Call::Growing(dicts::merge)),
    ("mergeOverwrite", &[MAP, MAP], true, ANY, Call::Growing(dicts::merge_overwrite)),
    pure("mustDeepCopy", &[ANY], ANY, dicts::deep_copy),
    ("mustMerge", &[MAP, MAP], true, ANY, Call::Growing(dicts::merge)),
    ("mustMergeOverwrite", &[MAP, MAP], true, ANY, Call::Growing(dicts::merge_overwrite)),
    many("omit", &[MAP, S], MAP, dicts::omit),
    many("pick", &[MAP, S], MAP, dicts::pick),
    many("pluck", &[S, MAP], LIST, dicts::pluck),
    ("set", &[MAP, S, ANY], false, MAP, Call::Growing(dicts::set)),
    pure("unset", &[MAP, S], MAP, dicts::unset),
    pure("values", &[MAP], LIST, dicts::values),

    // Defaults
    many("all", &[ANY], BOOL, defaults::all),
    many("any", &[ANY], BOOL, defaults::any),
    many("coalesce", &[ANY], ANY, defaults::coalesce),
    many("default", &[ANY, ANY], ANY, defaults::default),
    pure("empty", &[ANY], BOOL, defaults::empty),
    pure("ternary", &[ANY, ANY, BOOL], ANY, defaults::ternary),

    // JSON
    pure("fromJson", &[S], ANY, defaults::from_json),
    pure("mustFromJson", &[S], ANY, defaults::must_from_json),
    pure("mustToJson", &[ANY], S, defaults::must_to_json),
    pure("mustToPrettyJson", &[ANY], S, defaults::must_to_pretty_json),
    pure("mustToRawJson", &[ANY], S, defaults::must_to_raw_json),
    pure("toJson", &[ANY], S, defaults::to_json),
    pure("toPrettyJson", &[ANY], S, defaults::to_pretty_json),
    pure("toRawJson", &[ANY], S, defaults::must_to_raw_json),

    // Dates
    hosted("ago", &[ANY], S, dates::ago),
    hosted("date", &[S, ANY], S, dates::date),
    hosted("dateInZone", &[S, ANY, S], S, dates::date_in_zone),
    hosted("date_in_zone", &[S, ANY, S], S, dates::date_in_zone),
    pure("dateModify", &[S, TIME], TIME, dates::date_modify),
    pure("date_modify", &[S, TIME], TIME, dates::date_modify),
    pure("duration", &[ANY], S, dates::duration),
    hosted("durationRound", &[ANY], S, dates::duration_round),
    hosted("htmlDate", &[ANY], S, dates::html_date),
    hosted("htmlDateInZone", &[ANY, S], S, dates::html_date_in_zone),
    pure("mustDateModify", &[S, TIME], TIME, dates::must_date_modify),
    pure("must_date_modify", &[S, TIME], TIME, dates::must_date_modify),
    hosted("mustToDate", &[S, S], TIME, dates::must_to_date),
    hosted("now", &[], TIME, dates::now),
    hosted("toDate", &[S, S], TIME, dates::to_date),
    pure("unixEpoch", &[TIME], S, dates::unix_epoch),

    // Types
    pure("deepEqual", &[ANY, ANY], BOOL, reflect::deep_equal),
    pure("kindIs", &[S, ANY], BOOL, reflect::kind_is),
    pure("kindOf", &[ANY], S, reflect::kind_of),
    pure("typeIs", &[S, ANY], BOOL, reflect::type_is),
    pure("typeIsLike", &[S, ANY], BOOL, reflect::type_is_like),
    pure("typeOf", &[ANY], S, reflect::type_of),

    // Paths
    pure("base", &[S], S, paths::base),
    pure("clean", &[S], S, paths::clean),
    pure("dir", &[S], S, paths::dir),
    pure("ext", &[S], S, paths::ext),
    pure("isAbs", &[S], BOOL, paths::is_abs),
    pure("osBase", &[S], S, paths::base),
    pure("osClean", &[S], S, paths::clean),
    pure("osDir", &[S], S, paths::dir),
    pure("osExt", &[S], S, paths::ext),
    pure("osIsAbs", &[S], BOOL, paths::is_abs),

    // Encodings and checksums
    pure("adler32sum", &[S], S, encoding::adler32sum),
    pure("b32dec", &[S], S, encoding::b32dec),
    pure("b32enc", &[S], S, encoding::b32enc),
    pure("b64dec", &[S], S, encoding::b64dec),
    pure("b64enc", &[S], S, encoding::b64enc),
    pure("sha1sum", &[S], S, encoding::sha1sum),
    pure("sha256sum", &[S], S, encoding::sha256sum),
    pure("sha512sum", &[S], S, encoding::sha512sum),

    // Secrets, keys, certificates
    hosted("bcrypt", &[S], S, crypto::password::bcrypt),
    pure("buildCustomCert", &[S, S], CERT, crypto::certificate::build_custom_cert),
    pure("decryptAES", &[S, S], S, crypto::cipher::decrypt_aes),
    pure("derivePassword", &[UINT32, S, S, S, S], S, crypto::password::derive_password),
    hosted("encryptAES", &[S, S], S, crypto::cipher::encrypt_aes),
    hosted("genCA", &[S, INT], CERT, crypto::certificate::gen_ca),
    hosted("genCAWithKey", &[S, INT, S], CERT, crypto::certificate::gen_ca_with_key),
    hosted("genPrivateKey", &[S], S, crypto::key::gen_private_key),
    hosted("genSelfSignedCert", &[S, LIST, LIST, INT], CERT, crypto::certificate::gen_self_signed),
    hosted("genSelfSignedCertWithKey", &[S, LIST, LIST, INT, S], CERT, crypto::certificate::gen_self_signed_with_key),
    hosted("genSignedCert", &[S, LIST, LIST, INT, CERT], CERT, crypto::certificate::gen_signed),
    hosted("genSignedCertWithKey", &[S, LIST, LIST, INT, CERT, S], CERT, crypto::certificate::gen_signed_with_key),
    hosted("htpasswd", &[S, S], S, crypto::password::htpasswd),

    // Semantic versions
    pure("semver", &[S], SEMVER, semver::semver),
    pure("semverCompare", &[S, S], BOOL, semver::semver_compare),

    // Flow
    pure("fail", &[S], S, flow::fail),

    // Regular expressions
    pure("mustRegexFind", &[S, S], S, regex::must_find),
    pure("mustRegexFindAll", &[S, S, INT], STRINGS, regex::must_find_all),
    pure("mustRegexMatch", &[S, S], BOOL, regex::must_matches),
    pure("mustRegexReplaceAll", &[S, S, S], S, regex::must_replace_all),
    pure("mustRegexReplaceAllLiteral", &[S, S, S], S, regex::must_replace_all_literal),
    pure("mustRegexSplit", &[S, S, INT], STRINGS, regex::must_split),
    pure("regexFind", &[S, S], S, regex::find),
    pure("regexFindAll", &[S, S, INT], STRINGS, regex::find_all),
    pure("regexMatch", &[S, S], BOOL, regex::matches),
    pure("regexQuoteMeta", &[S], S, regex::quote_meta),
    pure("regexReplaceAll", &[S, S, S], S, regex::replace_all),
    pure("regexReplaceAllLiteral", &[S, S, S], S, regex::replace_all_literal),
    pure("regexSplit", &[S, S, INT], STRINGS, regex::split),

    // URLs and DNS
    hosted("getHostByName", &[S], S, network::get_host_by_name),
    pure("urlJoin", &[MAP], S, urls::url_join),
    pure("urlParse", &[S], MAP, urls::url_parse),
];

/// Put all functions into the map.
pub fn register(functions: &mut FuncMap, host: &Arc<dyn Host>) {
    functions.add_methods(Arc::new(time_methods::TimeMethods));
    for &(name, params, variadic, result, call) in TABLE {
        let host = Arc::clone(host);
        let cost = cost::of(name);
        let run = move |cx: &mut Context<'_>, args: &[Value]| -> Result<Value, FuncError> {
            if let Some(cost) = cost {
                cx.work(cost(args))?;
            }
            match call {
                Call::Pure(call) => call(args),
                Call::Growing(call) => {
                    let (map, growth) = call(args)?;
                    cx.grew(growth.entries, &growth.maps)?;
                    Ok(Value::Map(map))
                }
                Call::Hosted(call) => call(host.as_ref(), args),
            }
        };
        if variadic {
            functions.add_variadic(name, params, result, run);
        } else {
            functions.add(name, params, result, run);
        }
    }
}
