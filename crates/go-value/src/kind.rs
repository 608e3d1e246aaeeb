//! Go's kinds and type names, as `reflect` reports them.

/// Go's `reflect.Kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The zero `reflect.Value`, or an interface that holds nothing.
    Invalid,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `int8`
    Int8,
    /// `int16`
    Int16,
    /// `int32`
    Int32,
    /// `int64`
    Int64,
    /// `uint`
    Uint,
    /// `uint8`
    Uint8,
    /// `uint16`
    Uint16,
    /// `uint32`
    Uint32,
    /// `uint64`
    Uint64,
    /// `uintptr`
    Uintptr,
    /// `float32`
    Float32,
    /// `float64`
    Float64,
    /// `complex128`
    Complex128,
    /// A fixed-size array.
    Array,
    /// A function value.
    Func,
    /// An interface type.
    Interface,
    /// A map.
    Map,
    /// A pointer.
    Pointer,
    /// A slice.
    Slice,
    /// `string`
    String,
    /// A struct.
    Struct,
}

impl Kind {
    /// The kind's name, as `reflect.Kind.String` prints it (`ptr` for a pointer).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Uint => "uint",
            Self::Uint8 => "uint8",
            Self::Uint16 => "uint16",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
            Self::Uintptr => "uintptr",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Complex128 => "complex128",
            Self::Array => "array",
            Self::Func => "func",
            Self::Interface => "interface",
            Self::Map => "map",
            Self::Pointer => "ptr",
            Self::Slice => "slice",
            Self::String => "string",
            Self::Struct => "struct",
        }
    }

    /// Is this one of Go's signed integer kinds?
    pub const fn is_int(self) -> bool {
        matches!(self, Self::Int | Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64)
    }

    /// Is this one of Go's unsigned integer kinds?
    pub const fn is_uint(self) -> bool {
        matches!(self, Self::Uint | Self::Uint8 | Self::Uint16 | Self::Uint32 | Self::Uint64 | Self::Uintptr)
    }

    /// Is this `float32` or `float64`?
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float32 | Self::Float64)
    }
}

/// The static element type of a slice or map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elem {
    /// `interface {}`: each element carries its own dynamic type, and may be nil.
    Any,
    /// A concrete type of this kind whose name is given by the holder; elements are all of it.
    Of(Kind),
}

/// A slice type: Go's name for it and what its elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListType {
    /// As `%T` prints it.
    pub name: &'static str,
    /// The element type.
    pub elem: Elem,
}

impl ListType {
    /// `[]interface {}`
    pub const ANY: Self = Self { name: "[]interface {}", elem: Elem::Any };
    /// `[]string`
    pub const STRINGS: Self = Self { name: "[]string", elem: Elem::Of(Kind::String) };
    /// `[]int`
    pub const INTS: Self = Self { name: "[]int", elem: Elem::Of(Kind::Int) };
    /// `[]int64`
    pub const INT64S: Self = Self { name: "[]int64", elem: Elem::Of(Kind::Int64) };
    /// `[]float64`
    pub const FLOATS: Self = Self { name: "[]float64", elem: Elem::Of(Kind::Float64) };
    /// `[]uint8`, Go's byte slice
    pub const BYTES: Self = Self { name: "[]uint8", elem: Elem::Of(Kind::Uint8) };
    /// `[]map[string]interface {}`
    pub const MAPS: Self = Self { name: "[]map[string]interface {}", elem: Elem::Of(Kind::Map) };
    /// `[][]interface {}`, what sprig's `chunk` makes
    pub const LISTS: Self = Self { name: "[][]interface {}", elem: Elem::Of(Kind::Slice) };
}

/// A map type with string keys: Go's name for it and what its elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MapType {
    /// As `%T` prints it.
    pub name: &'static str,
    /// The element type.
    pub elem: Elem,
}

impl MapType {
    /// `map[string]interface {}`
    pub const ANY: Self = Self { name: "map[string]interface {}", elem: Elem::Any };
    /// `common.Values`, Helm's named map type for values
    pub const VALUES: Self = Self { name: "common.Values", elem: Elem::Any };
    /// `map[string]string`
    pub const STRINGS: Self = Self { name: "map[string]string", elem: Elem::Of(Kind::String) };

    /// Is it written as a map of something? Only types with names have methods.
    pub fn is_unnamed(&self) -> bool {
        self.name.starts_with("map[")
    }
}
