/** A text of at most `most` characters: an ellipsis stands for its middle. Paths differ at their ends. */
export function shortened(text: string, most: number): string {
  // A character has at most two units, and no more are read than are needed.
  const characters = text.length <= most * 4 ? [...text] : [...text.slice(0, most * 2), ...text.slice(-most * 2)];
  if (characters.length <= most) return text;
  const head = Math.floor((most - 1) / 3);
  return `${characters.slice(0, head).join('')}…${characters.slice(characters.length - (most - 1 - head)).join('')}`;
}

/** The most characters of a name within a sentence. */
export const NAME_CHARACTERS = 60;
