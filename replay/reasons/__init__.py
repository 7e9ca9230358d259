"""Reasons why an answer is not another, by kind of answer; `replay.why_not` gathers them."""
