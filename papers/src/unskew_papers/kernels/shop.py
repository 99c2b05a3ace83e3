"""Visits to a shop, one after the other: who comes, for what, what the page and a search show, and what is wanted.

The laws stand in ``shop/``. Randomness is a hash of (seed, user, day, counter), and whether an item
is wanted at a visit a hash of (seed, user, day, item): neither depends on who else comes or on what is shown.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels import mix, njit, unit

STEP = np.uint64(0xD1B54A32D192ED03)  # between two draws of a visit


@njit(cache=True, nogil=True, inline="always")
def visit_key(seed, user, day):  # type: ignore[no-untyped-def]
    """What the draws of a visit start from."""
    return mix(mix(np.uint64(seed) ^ np.uint64(user)) ^ np.uint64(day))


@njit(cache=True, nogil=True)
def count_visits(arrival, rate, rhythm, fading, seed, counts):  # type: ignore[no-untyped-def]
    """``counts[u]``: the days on which user u comes: on arrival, and later with a chance that fades."""
    for u in range(len(arrival)):
        counts[u] = 1
        for d in range(arrival[u] + 1, len(rhythm)):
            chance = rate[u] * rhythm[d] * np.exp(-(d - arrival[u]) / fading)
            counts[u] += unit(visit_key(seed, u, d)) < chance


@njit(cache=True, nogil=True)
def list_visits(arrival, rate, rhythm, fading, seed, starts, day):  # type: ignore[no-untyped-def]
    """The same days, ascending, at the places from ``starts[u]`` on."""
    for u in range(len(arrival)):
        at = starts[u]
        day[at] = arrival[u]
        for d in range(arrival[u] + 1, len(rhythm)):
            chance = rate[u] * rhythm[d] * np.exp(-(d - arrival[u]) / fading)
            if unit(visit_key(seed, u, d)) < chance:
                at += 1
                day[at] = d


@njit(cache=True, nogil=True)
def drift(starts, day, pace, noise):  # type: ignore[no-untyped-def]
    """Turn standard normal ``noise[v]`` into tastes: each visit of a user keeps exp(−days/pace) of the last one's."""
    for u in range(len(starts) - 1):
        for v in range(starts[u] + 1, starts[u + 1]):
            kept = np.exp(-(day[v] - day[v - 1]) / pace)
            fresh = np.sqrt(1.0 - kept * kept)
            for j in range(noise.shape[1]):
                noise[v, j] = kept * noise[v - 1, j] + fresh * noise[v, j]


@njit(cache=True, nogil=True)
def intent_chances(taste, season, niche_taste, out):  # type: ignore[no-untyped-def]
    """``out[g]`` = P(a visit is about niche g): the softmax of season + taste of the user · taste of the niche."""
    highest = -np.inf
    for g in range(len(out)):
        value = season[g]
        for j in range(len(taste)):
            value += taste[j] * niche_taste[g, j]
        out[g], highest = value, max(highest, value)
    total = 0.0
    for g in range(len(out)):
        out[g] = np.exp(out[g] - highest)
        total += out[g]
    for g in range(len(out)):
        out[g] /= total


@njit(cache=True, nogil=True)
def all_intent_chances(day, taste, season, niche_taste, out):  # type: ignore[no-untyped-def]
    """The same for every visit: ``out[v, g]``."""
    for v in range(len(day)):
        intent_chances(taste[v], season[day[v]], niche_taste, out[v])


@njit(cache=True, nogil=True)
def draw_intents(user, day, taste, season, niche_taste, seed, out):  # type: ignore[no-untyped-def]
    """What each visit is about."""
    chances = np.empty(len(niche_taste))
    for v in range(len(user)):
        intent_chances(taste[v], season[day[v]], niche_taste, chances)
        u, g = unit(visit_key(seed, user[v], day[v])), 0
        while g < len(chances) - 1 and u >= chances[g]:
            u -= chances[g]
            g += 1
        out[v] = g


@njit(cache=True, nogil=True, inline="always")
def finding_rate(in_niche, weight, cumulative, first, last, search, browse):  # type: ignore[no-untyped-def]
    """How often an item is found per visit; ``weight`` is its attention, 0 where it is not available.

    Of ``search`` findings a share ``browse`` are of the whole shop, the others of the visit's niche, whose items stand
    at ``first`` … ``last − 1`` in the order of ``cumulative``.
    """
    rate = browse * weight / cumulative[-1] if cumulative[-1] > 0.0 else 0.0
    niche = cumulative[last] - cumulative[first]
    if in_niche and niche > 0.0:
        rate += (1.0 - browse) * weight / niche
    return search * rate


@njit(cache=True, nogil=True)
def page_chance(item, page, filled, glance, promoted, campaign, campaigns):  # type: ignore[no-untyped-def]
    """P(the item is looked at on the page): place r holds ``page[r]``, or with P = ``promoted`` a campaign item."""
    in_campaign = False
    for c in range(campaigns):
        in_campaign |= campaign[c] == item
    missed, share = 1.0, promoted if campaigns else 0.0
    for r in range(len(glance)):
        shown = (1.0 - share) * (r < filled and page[r] == item)
        if in_campaign:
            shown += share / campaigns
        missed *= 1.0 - glance[r] * shown
    return 1.0 - missed


@njit(cache=True, nogil=True, inline="always")
def _find(cumulative, low, high, target):  # type: ignore[no-untyped-def]
    """The place j in low … high − 1 with cumulative[j] ≤ target < cumulative[j + 1]."""
    while high - low > 1:
        middle = (low + high) // 2
        if cumulative[middle] <= target:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def serve(  # type: ignore[no-untyped-def]
    first, last, user, day, intent, lists, niche, order, niche_start, quality, impulse, attention, cumulative, hashes,
    campaign, campaigns, glance, promoted, search, browse, begin, midnight, seed, want_seed, head, link, row_visit,
    row_item, row_time, row_place, row_chance, rows,
):  # fmt: skip
    """The rows that the visits ``first`` … ``last − 1`` of one day leave; gives back how many there are now.

    ``lists[v − first]`` is the page of a visit as far as it is filled (−1 behind). A user's rows so far hang on
    ``head[user]``, ``link``; what a user has had is neither looked at nor wanted again. A row has the place of the page
    on which the item was clicked, or 0 where it was found, and P(it was looked at) given the list and the intent. The
    n-th row of a visit comes in its n-th minute, but before ``midnight``.
    """
    examined = np.empty(len(glance) + 64, np.int32)
    for v in range(first, last):
        u, g, key = user[v], intent[v], visit_key(seed, user[v], day[v])
        wants, page, filled = visit_key(want_seed, user[v], day[v]), lists[v - first], 0
        while filled < len(page) and page[filled] >= 0:
            filled += 1
        looked, before, a, b = 0, rows, niche_start[g], niche_start[g + 1]
        places = np.zeros(len(examined), np.int32)
        for r in range(len(glance)):
            key = mix(key)
            item = page[r] if r < filled else np.int32(-1)
            if campaigns and unit(key + STEP) < promoted:
                item = campaign[int(unit(key + np.uint64(2) * STEP) * campaigns)]
            if item >= 0 and unit(key + np.uint64(3) * STEP) < glance[r]:
                examined[looked], places[looked] = item, r + 1
                looked += 1
        threshold, product = np.exp(-search), unit(key)
        while product > threshold and looked < len(examined):
            key = mix(key)
            low, high = (0, len(order)) if unit(key + STEP) < browse else (a, b)
            mass = cumulative[high] - cumulative[low]
            if mass > 0.0:
                target = cumulative[low] + unit(key + np.uint64(2) * STEP) * mass
                examined[looked] = order[_find(cumulative, low, high, target)]
                looked += 1
            product *= unit(key + np.uint64(3) * STEP)
        for x in range(looked):
            item = examined[x]
            known = False
            e = head[u]
            while e >= 0:
                known |= row_item[e] == item
                e = link[e]
            chance = quality[item] if niche[item] == g else impulse[item]
            if known or unit(wants ^ hashes[item]) >= chance:
                continue
            on_page = page_chance(item, page, filled, glance, promoted, campaign, campaigns)
            rate = finding_rate(niche[item] == g, attention[item], cumulative, a, b, search, browse)
            row_visit[rows], row_item[rows], row_place[rows] = v, item, places[x]
            minutes = rows - before + unit((wants ^ hashes[item]) + STEP)
            row_time[rows] = min(begin[v] + np.int64(minutes * 60_000_000.0), midnight - 1)
            row_chance[rows] = 1.0 - (1.0 - on_page) * np.exp(-rate)
            link[rows], head[u] = head[u], rows
            rows += 1
    return rows


@njit(cache=True, nogil=True)
def list_wants(  # type: ignore[no-untyped-def]
    user, day, intent, niche, quality, impulse, attention, hashes, indptr, had, want_seed, out_user, out_item
):  # fmt: skip
    """All items that visits want, had items left out; gives back how many (only counted where there is no room)."""
    many = 0
    for v in range(len(user)):
        u, d, g, wants = user[v], day[v], intent[v], visit_key(want_seed, user[v], day[v])
        for item in range(len(niche)):
            if attention[d, item] <= 0.0:
                continue
            chance = quality[item] if niche[item] == g else impulse[d, item]
            if chance > 0.0 and unit(wants ^ hashes[item]) < chance and not _has(indptr, had, u, item):
                if many < len(out_user):
                    out_user[many], out_item[many] = u, item
                many += 1
    return many


@njit(cache=True, nogil=True, inline="always")
def _has(indptr, had, user, item):  # type: ignore[no-untyped-def]
    """Whether the user's row of a sparse matrix, ascending, holds the item."""
    low, high = indptr[user], indptr[user + 1]
    while low < high:
        middle = (low + high) // 2
        if had[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low < indptr[user + 1] and had[low] == item


@njit(cache=True, nogil=True)
def page_clicks(  # type: ignore[no-untyped-def]
    starts, user, day, chances, list_start, list_item, niche, niche_start, quality, impulse, attention, cumulative,
    indptr, had, campaign, campaigns, glance, promoted, search, browse, clicks,
):  # fmt: skip
    """``clicks[j]`` = expected clicks on the pages of the visits ``starts[j]`` … ``starts[j + 1] − 1`` of one user.

    The page of a visit is the user's list (``list_item[list_start[j]:list_start[j + 1]]``) without items that are not
    available that day or were had before; ``chances[v]`` are those of the intents. An item is clicked once, whether on
    the page or found: with w̄ = P(wanted), z = P(looked at on the page) and f_g = P(found | intent g) it brings

        Σ over visits of z w̄ · Π over earlier visits of (1 − Σ_g P(g) P(wanted | g) (1 − (1 − z)(1 − f_g)))
    """
    stamp, pages = np.full(len(niche), -1, np.int64), np.empty((0, len(glance)), np.int32)
    for j in range(len(starts) - 1):
        a, b = starts[j], starts[j + 1]
        if len(pages) < b - a:
            pages = np.empty((b - a, len(glance)), np.int32)
        filled, items = np.zeros(b - a, np.int64), 0
        several = np.empty(len(glance) * (b - a) + campaign.shape[1] * (b - a), np.int32)
        for v in range(a, b):
            for e in range(list_start[j], list_start[j + 1]):
                item = list_item[e]
                if filled[v - a] == len(glance):
                    break
                if item >= 0 and attention[day[v], item] > 0.0 and not _has(indptr, had, user[v], item):
                    pages[v - a, filled[v - a]] = item
                    filled[v - a] += 1
                    if stamp[item] != j:
                        stamp[item], several[items] = j, item
                        items += 1
            for c in range(campaigns[day[v]]):
                item = campaign[day[v], c]
                if stamp[item] != j and not _has(indptr, had, user[v], item):
                    stamp[item], several[items] = j, item
                    items += 1
        clicks[j] = 0.0
        for x in range(items):
            item, left = several[x], 1.0
            g = niche[item]
            low, high = niche_start[g], niche_start[g + 1]
            for v in range(a, b):
                d = day[v]
                on_page = page_chance(item, pages[v - a], filled[v - a], glance, promoted, campaign[d], campaigns[d])
                here, weight = chances[v, g], attention[d, item]
                if weight <= 0.0:
                    continue
                wanted_here, wanted_else = here * quality[item], (1.0 - here) * impulse[d, item]
                found_here = 1.0 - np.exp(-finding_rate(True, weight, cumulative[d], low, high, search, browse))
                found_else = 1.0 - np.exp(-finding_rate(False, weight, cumulative[d], low, high, search, browse))
                clicks[j] += left * on_page * (wanted_here + wanted_else)
                left *= 1.0 - (
                    wanted_here * (1.0 - (1.0 - on_page) * (1.0 - found_here))
                    + wanted_else * (1.0 - (1.0 - on_page) * (1.0 - found_else))
                )


@njit(cache=True, nogil=True)
def wanted_once(item, a, b, user, day, chances, niche, quality, impulse, attention, indptr, had):  # type: ignore[no-untyped-def]
    """P(the item is wanted at one of the visits a … b − 1 of a user who has not had it)."""
    if _has(indptr, had, user[a], item):
        return 0.0
    never = 1.0
    for v in range(a, b):
        if attention[day[v], item] > 0.0:
            here = chances[v, niche[item]]
            never *= 1.0 - here * quality[item] - (1.0 - here) * impulse[day[v], item]
    return 1.0 - never


@njit(cache=True, nogil=True)
def wanted_items(starts, user, day, chances, niche, quality, impulse, attention, indptr, had, total):  # type: ignore[no-untyped-def]
    """``total[j]`` = how many items a user is expected to want in the visits ``starts[j]`` … ``starts[j + 1] − 1``."""
    for j in range(len(starts) - 1):
        total[j] = 0.0
        for item in range(len(niche)):
            total[j] += wanted_once(
                item, starts[j], starts[j + 1], user, day, chances, niche, quality, impulse, attention, indptr, had
            )


@njit(cache=True, nogil=True)
def wanted_in_lists(  # type: ignore[no-untyped-def]
    starts, user, day, chances, niche, quality, impulse, attention, indptr, had, list_start, list_item, list_rank, cuts,
    out,
):  # fmt: skip
    """``out[j, c]`` = how many of them are at the ranks 1 … ``cuts[c]`` of the user's list."""
    for j in range(len(starts) - 1):
        out[j] = 0.0
        for e in range(list_start[j], list_start[j + 1]):
            item, a, b = list_item[e], starts[j], starts[j + 1]
            if item >= 0:
                wanted = wanted_once(item, a, b, user, day, chances, niche, quality, impulse, attention, indptr, had)
                for c in range(len(cuts)):
                    out[j, c] += wanted * (list_rank[e] <= cuts[c])
