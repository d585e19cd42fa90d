import { parser } from '@prometheus-io/lezer-promql';

/** A metric that an expression reads, with the labels that it selects by. */
export interface SelectedMetric {
  metric: string;
  labels: string[];
}

/** What an expression reads of the database. */
export interface ReadExpression {
  selected: SelectedMetric[];
  /** Labels by which it groups or matches. */
  grouped: string[];
}

/** Reads an expression of PromQL. Throws for one that does not parse. */
export function readPromQl(text: string): ReadExpression {
  const selected: SelectedMetric[] = [];
  const grouped: string[] = [];
  parser.parse(text).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`no PromQL at ${node.from}: ${text}`);
      if (node.name === 'VectorSelector') {
        const named = node.node.getChild('Identifier');
        const matchers = node.node.getChild('LabelMatchers');
        const labels = [...(matchers?.getChildren('UnquotedLabelMatcher') ?? [])].map((matcher) => {
          const label = matcher.getChild('LabelName');
          return label === null ? '' : text.slice(label.from, label.to);
        });
        selected.push({
          metric: named === null ? '' : text.slice(named.from, named.to),
          labels,
        });
      }
      if (node.name === 'GroupingLabels') {
        for (const label of node.node.getChildren('LabelName')) {
          grouped.push(text.slice(label.from, label.to));
        }
      }
    },
  });
  return { selected, grouped };
}
