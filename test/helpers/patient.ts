/** How long a test waits for what must come and how often it looks, in ms: a slow machine is no failure. */
export const patient = { timeout: 20_000, interval: 20 };

/** The same for work in this process only, where fewer checks save nothing. */
export const prompt = { ...patient, interval: 2 };
