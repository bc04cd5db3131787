//! The names of keys in the order in which the code declares them.
//!
//! A JSON Schema has them sorted. Serde tells a deserializer the names of a structure's fields and of
//! an enumeration's variants before it asks for a value; this one writes them down and stops there.

use serde::de::value::{Error, StrDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer,
    MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

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
        visitor.visit_map(self)
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
        visitor.visit_seq(self)
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

    fn first(&self) -> StrDeserializer<'p, Error> {
        self.path.first().copied().unwrap_or_default().into_deserializer()
    }
}

impl<'de> MapAccess<'de> for Names<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        seed.deserialize(self.first()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(Names { path: self.path, found: self.found }.rest())
    }
}

impl<'de> SeqAccess<'de> for Names<'_> {
    type Error = Error;

    /// One item, of which the whole path is: lists take no part of it.
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        seed.deserialize(Names { path: self.path, found: self.found }).map(Some)
    }
}

impl<'de> EnumAccess<'de> for Names<'_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let variant = seed.deserialize(self.first())?;
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
        visitor.visit_map(self)
    }
}
