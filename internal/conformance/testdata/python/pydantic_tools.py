"""Plain functions whose types are pydantic's."""

from __future__ import annotations

import datetime
from typing import Annotated, List, Literal, Optional, Union

from pydantic import BaseModel, Field, field_validator
from pydantic.dataclasses import dataclass
from pydantic.v1 import BaseModel as OldModel


class Item(BaseModel):
    """One line of an order."""

    name: str = Field(description="What it is called.", min_length=1)
    count: int = Field(1, gt=0)
    parts: List[Item] = []

    @field_validator("name")
    @classmethod
    def not_blank(cls, value):
        if not value.strip():
            raise ValueError("a name has letters")
        return value


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: List[str] = []


class Order(BaseModel):
    items: List[Item]
    day: Optional[datetime.date] = None


class Old(OldModel):
    x: int


@dataclass
class Spot:
    x: int
    y: int = 0


def total(order: Order) -> int:
    """Counts the items of an order."""
    return sum(item.count for item in order.items)


def echo(item: Item) -> Item:
    """Gives an item back."""
    return item


def many(items: List[Item], limit: Annotated[int, Field(ge=1, le=10, description="How many.")] = 3) -> List[Item]:
    """Gives some items back."""
    return items[:limit]


def pet(which: Annotated[Union[Cat, Dog], Field(discriminator="kind")]) -> str:
    """Says what it is."""
    return type(which).__name__


def field_default(x: int = Field(5, gt=2, description="A number.")) -> int:
    """Has pydantic's way to say a default."""
    return x


def spot(s: Spot) -> list:
    """A dataclass of pydantic."""
    return [s.x, s.y]


def old(o: Old) -> int:
    """A model of the first generation."""
    return o.x


def failing(name: str) -> str:
    """Makes a model that does not fit."""
    return Item(name=name, count=0).name
