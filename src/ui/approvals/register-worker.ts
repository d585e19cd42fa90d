/** The parts of Trusted Types that are used. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

/**
 * Registers the service worker of the page, which makes it installable. Returns `null` in a browser without service
 * workers.
 */
export async function registerWorker(): Promise<ServiceWorkerRegistration | null> {
  if (!('serviceWorker' in navigator)) return null;
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  // The policy of the page accepts a script address only from a named maker; this one makes a single address.
  const maker = trustedTypes?.createPolicy('worker', { createScriptURL: () => address });
  const url = maker?.createScriptURL('') ?? address;
  return navigator.serviceWorker.register(url, { updateViaCache: 'none' });
}

const address = './service-worker.js';
