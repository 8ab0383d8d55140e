/** A rule forbids what was asked for. The message is a sentence for the person who asked. */
export class Refusal extends Error {}
