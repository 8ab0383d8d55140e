/** The address that the guides use in their commands. */
export const EXAMPLE = 'http://127.0.0.1:8080';

/**
 * The HTML of a guide with the reader's own address in its commands, and with a link at each heading. The rest of the text keeps the
 * address of the example, because it tells what the default is.
 */
export function guideHtml(html: string, url: string): string {
  const address = escaped(url.replace(/\/+$/, ''));
  return html
    .replace(/<pre>[\s\S]*?<\/pre>/g, block => block.replaceAll(EXAMPLE, () => address).replace('<pre>', '<pre tabindex="0">'))
    .replace(
      /<h([2-4]) id="([^"]*)">([\s\S]*?)<\/h\1>/g,
      '<h$1 id="$2">$3 <a class="anchor" href="#$2" aria-label="Link to this section">#</a></h$1>',
    )
    .replace(/<table>[\s\S]*?<\/table>/g, table => `<div class="scrolls" role="group" aria-label="Table" tabindex="0">${table}</div>`);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}
