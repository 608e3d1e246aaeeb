//! Arithmetic.
//!
//! Owns: integer arithmetic on anything ([`crate::cast`]), decimal arithmetic of the `f` variants, ranges of numbers.
//! Upstream: sprig's `numeric.go` and `functions.go`, github.com/shopspring/decimal v1.4.0.
//! The surprising thing: `addf` and relatives compute in decimal, so `addf 0.1 0.2` is 0.3; integers wrap around.

use go_template::FuncError;
use go_value::float::parse_int;
use go_value::limits::{MAX_ITEMS, too_many_items};
use go_value::{Kind, List, ListType, Value, format};
use num_bigint::{BigInt, Sign};

use crate::args::{Outcome, any, int};
use crate::cast::{to_float64, to_int64};

pub(crate) fn atoi(a: &[Value]) -> Outcome {
    use go_value::float::NumError;
    Ok(Value::int(match parse_int(crate::args::text(a, 0), 10, 64) {
        Ok(n) | Err(NumError::Range(n)) => n,
        Err(_) => 0,
    }))
}

pub(crate) fn int64(a: &[Value]) -> Outcome {
    Ok(Value::int64(to_int64(any(a, 0))))
}

pub(crate) fn to_int(a: &[Value]) -> Outcome {
    Ok(Value::int(to_int64(any(a, 0))))
}

pub(crate) fn float64(a: &[Value]) -> Outcome {
    Ok(Value::float(to_float64(any(a, 0))))
}

/// `strconv.ParseInt(fmt.Sprint(v), 8, 64)`: from octal, whatever its name says.
pub(crate) fn to_decimal(a: &[Value]) -> Outcome {
    Ok(Value::int64(parse_int(&format::sprint(&[any(a, 0).clone()]), 8, 64).unwrap_or(0)))
}

pub(crate) fn add1(a: &[Value]) -> Outcome {
    Ok(Value::int64(to_int64(any(a, 0)).wrapping_add(1)))
}

pub(crate) fn add(a: &[Value]) -> Outcome {
    Ok(Value::int64(a.iter().map(to_int64).fold(0, i64::wrapping_add)))
}

pub(crate) fn sub(a: &[Value]) -> Outcome {
    Ok(Value::int64(to_int64(any(a, 0)).wrapping_sub(to_int64(any(a, 1)))))
}

pub(crate) fn mul(a: &[Value]) -> Outcome {
    Ok(Value::int64(a.iter().map(to_int64).fold(1, i64::wrapping_mul)))
}

fn divisor(a: &[Value]) -> Result<i64, FuncError> {
    match to_int64(any(a, 1)) {
        0 => Err("runtime error: integer divide by zero".into()),
        n => Ok(n),
    }
}

pub(crate) fn div(a: &[Value]) -> Outcome {
    Ok(Value::int64(to_int64(any(a, 0)).wrapping_div(divisor(a)?)))
}

pub(crate) fn modulo(a: &[Value]) -> Outcome {
    Ok(Value::int64(to_int64(any(a, 0)).wrapping_rem(divisor(a)?)))
}

pub(crate) fn max(a: &[Value]) -> Outcome {
    Ok(Value::int64(a.iter().map(to_int64).max().unwrap_or(0)))
}

pub(crate) fn min(a: &[Value]) -> Outcome {
    Ok(Value::int64(a.iter().map(to_int64).min().unwrap_or(0)))
}

/// `math.Max` and `math.Min`: unlike Rust's, NaN wins over all but the infinity.
fn extreme(a: &[Value], largest: bool) -> f64 {
    let sign = if largest { 1.0 } else { -1.0 };
    let infinite = |f: f64| f.is_infinite() && f.is_sign_positive() == largest;
    let pick = |x: f64, y: f64| {
        if infinite(x) || infinite(y) {
            return f64::INFINITY * sign;
        }
        if x.is_nan() || y.is_nan() {
            return f64::NAN;
        }
        // Zeros differ by their sign.
        if (x * sign).total_cmp(&(y * sign)).is_gt() { x } else { y }
    };
    a.iter().map(to_float64).reduce(pick).unwrap_or(0.0)
}

pub(crate) fn maxf(a: &[Value]) -> Outcome {
    Ok(Value::float(extreme(a, true)))
}

pub(crate) fn minf(a: &[Value]) -> Outcome {
    Ok(Value::float(extreme(a, false)))
}

pub(crate) fn floor(a: &[Value]) -> Outcome {
    Ok(Value::float(to_float64(any(a, 0)).floor()))
}

pub(crate) fn ceil(a: &[Value]) -> Outcome {
    Ok(Value::float(to_float64(any(a, 0)).ceil()))
}

pub(crate) fn round(a: &[Value]) -> Outcome {
    let on = match a.get(2) {
        Some(Value::Float(_, f)) => *f,
        _ => 0.5,
    };
    let places = i32::try_from(int(a, 1)).unwrap_or(if int(a, 1) < 0 { i32::MIN + 1 } else { i32::MAX });
    let power = if places < 0 { 1.0 / 10f64.powi(-places) } else { 10f64.powi(places) };
    let digit = power * to_float64(any(a, 0));
    let fraction = if digit.is_infinite() { f64::NAN } else { digit - digit.trunc() };
    let rounded = if fraction >= on { digit.ceil() } else { digit.floor() };
    Ok(Value::float(rounded / power))
}

/// sprig's `untilStep`.
fn steps(start: i64, stop: i64, step: i64) -> Result<Vec<i64>, FuncError> {
    if step == 0 || (stop < start) != (step < 0) {
        return Ok(Vec::new());
    }
    if start.abs_diff(stop) / step.unsigned_abs() > MAX_ITEMS as u64 {
        return Err(too_many_items().into());
    }
    let mut numbers = Vec::new();
    let mut i = start;
    while if step < 0 { i > stop } else { i < stop } {
        numbers.push(i);
        let Some(next) = i.checked_add(step) else { break };
        i = next;
    }
    Ok(numbers)
}

fn ints(numbers: Vec<i64>) -> Value {
    Value::List(List::new(ListType::INTS, numbers.into_iter().map(Value::int).collect()))
}

pub(crate) fn until(a: &[Value]) -> Outcome {
    let count = int(a, 0);
    Ok(ints(steps(0, count, if count < 0 { -1 } else { 1 })?))
}

pub(crate) fn until_step(a: &[Value]) -> Outcome {
    Ok(ints(steps(int(a, 0), int(a, 1), int(a, 2))?))
}

pub(crate) fn seq(a: &[Value]) -> Outcome {
    let toward = |start: i64, end: i64| if end < start { -1 } else { 1 };
    let numbers = match a.len() {
        1 => {
            let (end, step) = (int(a, 0), toward(1, int(a, 0)));
            steps(1, end.wrapping_add(step), step)?
        }
        2 => {
            let (start, end) = (int(a, 0), int(a, 1));
            let step = toward(start, end);
            steps(start, end.wrapping_add(step), step)?
        }
        3 => {
            let (start, step, end) = (int(a, 0), int(a, 1), int(a, 2));
            if end < start && step > 0 {
                return Ok("".into());
            }
            steps(start, end.wrapping_add(toward(start, end)), step)?
        }
        _ => return Ok("".into()),
    };
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    Ok(texts.join(" ").into())
}

/// `value * 10^exp`
#[derive(Clone)]
struct Decimal {
    value: BigInt,
    exp: i64,
}

/// How many digits a division keeps.
const DIVISION_PRECISION: i64 = 16;

fn ten_to(exp: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(exp).unwrap_or(0))
}

impl Decimal {
    fn from_value(value: &Value) -> Result<Self, FuncError> {
        let f = to_float64(value);
        if !f.is_finite() {
            let shown = go_value::float::format_float(f, b'g', None, 64);
            return Err(format!("Cannot create a Decimal from {shown}").into());
        }
        let text = format!("{f:e}");
        let (mantissa, exp) = text.split_once('e').unwrap_or((&text, "0"));
        let fraction = mantissa.split_once('.').map_or(0, |(_, f)| f.len() as i64);
        let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
        Ok(Self { value: digits.parse().unwrap_or_default(), exp: exp.parse::<i64>().unwrap_or(0) - fraction })
    }

    fn to_float(&self) -> f64 {
        format!("{}e{}", self.value, self.exp).parse().unwrap_or(0.0)
    }

    fn at(&self, exp: i64) -> BigInt {
        &self.value * ten_to(self.exp - exp)
    }

    fn plus(&self, other: &Self) -> Self {
        let exp = self.exp.min(other.exp);
        Self { value: self.at(exp) + other.at(exp), exp }
    }

    fn minus(&self, other: &Self) -> Self {
        let exp = self.exp.min(other.exp);
        Self { value: self.at(exp) - other.at(exp), exp }
    }

    fn times(&self, other: &Self) -> Self {
        Self { value: &self.value * &other.value, exp: self.exp + other.exp }
    }

    /// Rounded half away from zero at the last digit kept.
    fn over(&self, other: &Self) -> Result<Self, FuncError> {
        if other.value.sign() == Sign::NoSign {
            return Err("decimal division by 0".into());
        }
        let scale = -DIVISION_PRECISION;
        let e = self.exp - other.exp - scale;
        let (above, below) = if e < 0 {
            (self.value.clone(), &other.value * ten_to(-e))
        } else {
            (&self.value * ten_to(e), other.value.clone())
        };
        let (quotient, rest) = (&above / &below, &above % &below);
        let twice = BigInt::from(rest.magnitude() * 2u32);
        let mut value = quotient;
        if twice >= BigInt::from(below.magnitude().clone()) {
            value += if self.value.sign() == other.value.sign() { 1 } else { -1 };
        }
        Ok(Self { value, exp: scale })
    }
}

fn decimals(first: &Value, rest: &[Value], step: fn(&Decimal, &Decimal) -> Result<Decimal, FuncError>) -> Outcome {
    let mut result = Decimal::from_value(first)?;
    for value in rest {
        result = step(&result, &Decimal::from_value(value)?)?;
    }
    Ok(Value::Float(Kind::Float64, result.to_float()))
}

pub(crate) fn add1f(a: &[Value]) -> Outcome {
    decimals(any(a, 0), &[Value::int(1)], |x, y| Ok(x.plus(y)))
}

pub(crate) fn addf(a: &[Value]) -> Outcome {
    decimals(&Value::float(0.0), a, |x, y| Ok(x.plus(y)))
}

pub(crate) fn subf(a: &[Value]) -> Outcome {
    decimals(any(a, 0), a.get(1..).unwrap_or_default(), |x, y| Ok(x.minus(y)))
}

pub(crate) fn mulf(a: &[Value]) -> Outcome {
    decimals(any(a, 0), a.get(1..).unwrap_or_default(), |x, y| Ok(x.times(y)))
}

pub(crate) fn divf(a: &[Value]) -> Outcome {
    decimals(any(a, 0), a.get(1..).unwrap_or_default(), Decimal::over)
}
