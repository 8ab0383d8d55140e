/** Escapes text for an attribute or the content of an element of XML, which has no other control characters, not even escaped. */
export function escapeXml(text: string): string {
  return text
    .replace(/(?![\t\n\r])[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"'\t\n\r]/g, character => `&#${character.charCodeAt(0)};`);
}
