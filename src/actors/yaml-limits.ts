/**
 * Limits of a `service.yaml` for `load` of js-yaml (docs/contract/configuration.md). The package `yaml` could crash the
 * process on deeper text, so it only parses what `load` has accepted.
 */
export const yamlLimits = { maxDepth: 64, maxAliases: 100 };
