/** How long a test waits for what must come and how often it looks, in ms: a slow machine is no failure. */
export const patient = { timeout: 20_000, interval: 20 };

/** The same for what goes on in this process alone, where nothing is gained by looking seldom. */
export const prompt = { ...patient, interval: 2 };
