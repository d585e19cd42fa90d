/** Tells whether a host of a URL is this machine itself, so that nobody is on the way there. */
export function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/u.test(host);
}
