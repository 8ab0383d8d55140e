import { describe, expect, it } from 'vitest';
import { guideHtml } from '../../../../src/dashboard/pages/docs/guide-html.js';

describe('the text of a guide', () => {
  it('has the address of the reader in its commands, and the default in its prose', () => {
    const html = '<p>listens on http://127.0.0.1:8080</p><pre><code>curl http://127.0.0.1:8080/v1</code></pre>';
    expect(guideHtml(html, 'https://ballast.example/')).toBe(
      '<p>listens on http://127.0.0.1:8080</p><pre tabindex="0"><code>curl https://ballast.example/v1</code></pre>',
    );
  });

  it('takes the address as text, whatever it is', () => {
    const html = '<pre><code>http://127.0.0.1:8080</code></pre>';
    expect(guideHtml(html, 'http://a/"><script>$&')).toBe('<pre tabindex="0"><code>http://a/&#34;&#62;&#60;script&#62;$&#38;</code></pre>');
  });

  it('has a link at each heading', () => {
    expect(guideHtml('<h2 id="a-b">A b</h2>', '')).toContain('<a class="anchor" href="#a-b"');
  });
});
