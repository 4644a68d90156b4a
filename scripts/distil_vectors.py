"""Make `src/metareview/data/offline-1-vectors.npz`: wordllama's word pieces in fewer bytes.

    pip install wordllama
    python scripts/distil_vectors.py --wordllama FOLDER_OF_THE_PACKAGE [--dimensions 96]

wordllama 0.4.0 (MIT) ships 32,000 token vectors of 256 dimensions (16 MB) and needs other packages to read
them. Kept here are the pieces made of ASCII letters or digits, without case, at a byte per dimension. The
dimensions are the principal ones of the words of AACR's notes, weighted by how often they occur, so that the
distances that matter in reviews survive.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from metareview.judges.offline.words import RUN, PieceTable, split

ROOT = Path(__file__).resolve().parent.parent
PIECE = re.compile(r"▁?([A-Za-z]+|[0-9]+)")


def piece_vectors(folder: Path) -> tuple[list[str], NDArray[np.float64]]:
    """Pieces in lower case; of tokens that fall together, the one that starts a lower-case word counts."""
    from safetensors.numpy import load_file

    table = next(iter(load_file(folder / "weights" / "l2_supercat_256.safetensors").values())).astype(float)
    config = json.loads((folder / "tokenizers" / "l2_supercat_tokenizer_config.json").read_text("utf-8"))
    chosen: dict[str, tuple[int, int]] = {}
    for token, index in config["model"]["vocab"].items():
        match = PIECE.fullmatch(token)
        if match:
            piece = match[1].lower()
            rank = 2 * (match[1] != piece) + (token == match[1])
            chosen[piece] = min(chosen.get(piece, (9, 0)), (rank, index))
    pieces = sorted(chosen)
    return pieces, table[[chosen[piece][1] for piece in pieces]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--wordllama", type=Path, required=True, help="the installed package's folder")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--dimensions", type=int, default=96)
    parser.add_argument("--out", type=Path, default=ROOT / "src/metareview/data/offline-1-vectors.npz")
    options = parser.parse_args()

    pieces, vectors = piece_vectors(options.wordllama)
    whole = PieceTable(pieces, np.zeros((len(pieces), 1), np.int8))
    count: Counter[int] = Counter()
    for name in ("positive", "negative"):
        for pull in json.loads((options.data / f"aacr/{name}_samples.json").read_text("utf-8")):
            for comment in pull["comments"]:
                for run in RUN.findall(comment["note"]):
                    for word in split(run)[0]:
                        count.update(whole.cut(word))
    weight = np.zeros(len(pieces))
    weight[list(count)] = [np.sqrt(n) for n in count.values()]
    # No centring: the cosine that is wanted is the table's own, about its own origin.
    axes = np.linalg.svd(vectors * weight[:, None], full_matrices=False)[2][: options.dimensions]
    small = vectors @ axes.T
    # The norm is the importance of a token, so one scale serves all; the few longest are cut off.
    scale = 127 / np.quantile(np.abs(small), 0.9999)
    packed = np.clip(np.rint(small * scale), -127, 127).astype(np.int8)
    text = np.frombuffer("\n".join(pieces).encode("ascii"), dtype=np.uint8)
    np.savez(options.out, pieces=text, vectors=packed)
    print(f"{len(pieces)} pieces x {options.dimensions}, {options.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
