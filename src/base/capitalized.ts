/** A text whose first letter is a capital. */
export const capitalized = (text: string) => text.replace(/^./, letter => letter.toUpperCase());
