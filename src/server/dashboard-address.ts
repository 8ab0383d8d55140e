/** The address at which this machine reaches a listener: one that listens on all addresses is reached at the loopback one. */
export function reachableUrl(url: string): string {
  return url.replace(
    /^(https?:\/\/)(0\.0\.0\.0|\[::\])(?=:|$)/,
    (_, scheme: string, host: string) => scheme + (host === '[::]' ? '[::1]' : '127.0.0.1'),
  );
}

/** The address of a sign-in link. The secret is in the fragment, which browsers send to no server. A Unix socket has no address: only the path. */
export function signInUrl(dashboardUrl: string, secret: string): string {
  return `${dashboardUrl.startsWith('unix:') ? '' : dashboardUrl}/sign-in#${secret}`;
}
