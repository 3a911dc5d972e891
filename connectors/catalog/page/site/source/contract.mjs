// What both sources of lineage have in common: how much they show at once, and what they answer instead.

export const LIMIT = 1_000;
/** So many neighbours of a card are shown on one side, the most used ones; of more there is a list. */
export const BESIDE = 20;

export class Unauthorised extends Error {}

/** The catalog does not answer at all. */
export class NoAnswer extends Error {}

/** The table that was asked for is not there. */
export class NotThere extends Error {}
