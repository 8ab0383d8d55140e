const own = (document.currentScript as HTMLScriptElement).src;

/**
 * Loads data as a script, because a page from a folder may load it in no other way. The script gives it with `document.currentScript.given = ...`.
 *
 * @param path relative to the script that calls this
 */
export function loadScript(path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const script: HTMLScriptElement & { given?: unknown } = document.createElement('script');
    script.src = new URL(path, own).href;
    script.onload = () => {
      script.remove();
      resolve(script.given);
    };
    script.onerror = () => reject(new Error(`cannot load ${script.src}`));
    document.head.append(script);
  });
}
