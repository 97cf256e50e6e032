import { amount } from '../shell/amounts.ts';
import type { FleetView } from './fleet-view.ts';

/** The plan's numbers, each with what it follows from. */
export function PlanTable({ plan }: Pick<FleetView, 'plan'>) {
  return (
    <section class="table plan">
      <h2>The plan</h2>
      {plan.findings.length > 0 && (
        <ul class="findings">
          {plan.findings.map(({ name, says }) => (
            <li key={name}>
              <strong>{name}:</strong> {says}.
            </li>
          ))}
        </ul>
      )}
      <table>
        <thead>
          <tr>
            <th scope="col">Number</th>
            <th scope="col">Value</th>
            <th scope="col">From</th>
          </tr>
        </thead>
        <tbody>
          {plan.figures.map(({ name, value, unit, reason }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                {amount(value)} {unit}
              </td>
              <td>{reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
