import { Component } from 'preact';
import type { View } from '../../glimpse-image/view.ts';
import type { Config } from '../../shell/config.ts';
import { followed } from '../../shell/followed.ts';
import type { Tile } from './layout.ts';

interface GridTileProps {
  tile: Tile;
  view: View;
  config: Config;
  href: string;
  title: string;
  /** -1 while there are more than those loaded. */
  total: number;
  active: boolean;
  onFocus: (image: string) => void;
  onOpen: (image: string) => void;
}

/** A picture of the grid; rendered only when something of it changed. */
export class GridTile extends Component<GridTileProps> {
  override shouldComponentUpdate(next: GridTileProps): boolean {
    const { tile, view, total, active } = this.props;
    return (
      next.view !== view ||
      next.total !== total ||
      next.active !== active ||
      next.tile.index !== tile.index ||
      next.tile.left !== tile.left ||
      next.tile.top !== tile.top ||
      next.tile.width !== tile.width ||
      next.tile.height !== tile.height
    );
  }

  override render({
    tile,
    view,
    config,
    href,
    title,
    total,
    active,
    onFocus,
    onOpen,
  }: GridTileProps) {
    const { index, left, top, width, height } = tile;
    return (
      <li
        aria-setsize={total}
        aria-posinset={index + 1}
        style={{
          width: `${width}px`,
          height: `${height}px`,
          transform: `translate(${left}px, ${top}px)`,
        }}
      >
        <a
          href={href}
          data-image={view.image}
          data-index={index}
          tabIndex={active ? 0 : -1}
          title={title}
          onFocus={() => onFocus(view.image)}
          onClick={followed(() => onOpen(view.image))}
        >
          <glimpse-image
            api={config.api}
            image={view.image}
            variant={config.variants.grid}
            alt={title}
            view={view}
            width={width}
            height={height}
            loading="eager"
          />
        </a>
      </li>
    );
  }
}
