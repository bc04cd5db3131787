//! The names of keys in the order in which the code declares them.
//!
//! A JSON Schema has them sorted. Serde tells a deserializer the names of a structure's fields and of
//! an enumeration's variants before it asks for a value; this one writes them down and stops there.

use serde::de::value::{Error, MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use std::iter::{Once, once};

/// The names at a path of `T`, such as `["model", "latency", "eq3"]`; none where a value is plain.
pub fn names<T: DeserializeOwned>(path: &[&str]) -> Vec<&'static str> {
    let mut found = Vec::new();
    // It always ends with an error: there is no value.
    let _ = T::deserialize(Names { path, found: &mut found });
    found
}

struct Names<'p> {
    path: &'p [&'p str],
    found: &'p mut Vec<&'static str>,
}

impl Names<'_> {
    /// Writes the names down at the end of the path.
    fn end(&mut self, names: &'static [&'static str]) -> Result<(), Error> {
        if self.path.is_empty() {
            self.found.extend(names);
            return Err(Error::custom("found"));
        }
        Ok(())
    }
}

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.end(fields)?;
        visitor.visit_map(self.entry())
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.end(variants)?;
        visitor.visit_enum(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        // One item, of which the whole path is: lists take no part of it.
        visitor.visit_seq(SeqDeserializer::new(once(self)))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("a plain value"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct tuple tuple_struct map identifier ignored_any
    }
}

impl<'p> Names<'p> {
    /// What follows the first part of the path.
    fn rest(self) -> Names<'p> {
        Names { path: self.path.get(1..).unwrap_or(&[]), found: self.found }
    }

    fn first(&self) -> &'p str {
        self.path.first().copied().unwrap_or_default()
    }

    /// The one entry of a map: the first part of the path, and what follows it.
    fn entry<'de>(self) -> MapDeserializer<'de, Once<(&'p str, Names<'p>)>, Error> {
        MapDeserializer::new(once((self.first(), self.rest())))
    }
}

impl<'de> IntoDeserializer<'de, Error> for Names<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> EnumAccess<'de> for Names<'_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let first: StrDeserializer<'_, Error> = self.first().into_deserializer();
        let variant = seed.deserialize(first)?;
        Ok((variant, self.rest()))
    }
}

impl<'de> VariantAccess<'de> for Names<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Err(Error::custom("a plain value"))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("a plain value"))
    }

    fn struct_variant<V: Visitor<'de>>(
        mut self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.end(fields)?;
        visitor.visit_map(self.entry())
    }
}
