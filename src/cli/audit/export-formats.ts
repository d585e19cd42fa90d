/** The formats of `audit export`. */
export const exportFormats = ['ndjson', 'csv', 'ocsf'] as const;

export type ExportFormat = (typeof exportFormats)[number];
