/** Placeholder for a variable that is only in the encrypted secrets, where an agent's files are read without them. */
export const assumedValue = '(in-the-encrypted-secrets)';
