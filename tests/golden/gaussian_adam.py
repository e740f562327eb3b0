#!/usr/bin/env python3
"""Writes gaussian_adam.json, trajectories of Adam: python3 tests/golden/gaussian_adam.py > tests/golden/gaussian_adam.json

Twelve steps of all rows for each network of gaussian_nll.json, from its weights and with its L2, in double precision, with gradients
by PyTorch (2.15 wrote this). Inputs, targets and first weights are rounded to float32, as backends read them. Keras adds
epsilon to the root of the second moment as it is, the paper after its correction."""
import json
import os

import numpy as np
import torch

STEPS, RATE, BETAS = 12, 0.01, (0.9, 0.999)
NAMES = ("W1", "b1", "W2", "b2", "W3", "b3")


def rounded(numbers):
    return torch.tensor(np.asarray(numbers, "f4").astype(float))


def losses_of(w, network, x, y):
    """The mean negative log likelihood, and the L2 of all parameters."""
    activation = getattr(torch, network["activation"])
    hidden = activation(activation(x @ w["W1"] + w["b1"]) @ w["W2"] + w["b2"])
    mean, raw = (hidden @ w["W3"] + w["b3"]).T
    variance = torch.nn.functional.softplus(raw) + 1e-6
    loss = (0.5 * (y - mean) ** 2 / variance + 0.5 * torch.log(2 * torch.pi * variance)).mean()
    return loss, network["lambda_l2_sum_squares_all_params"] * sum((a**2).sum() for a in w.values())


def trajectory(network, placement, epsilon):
    x, y = rounded(network["X"]), rounded(network["y"])
    w = {name: rounded(network["weights"][name]).requires_grad_() for name in NAMES}
    first, second = ({name: torch.zeros_like(w[name]) for name in NAMES} for _ in range(2))
    losses = []
    for t in range(1, STEPS + 1):
        loss, penalty = losses_of(w, network, x, y)
        losses.append(loss.item())
        gradients = torch.autograd.grad(loss + penalty, list(w.values()))
        with torch.no_grad():
            for name, g in zip(NAMES, gradients):
                first[name] = BETAS[0] * first[name] + (1 - BETAS[0]) * g
                second[name] = BETAS[1] * second[name] + (1 - BETAS[1]) * g**2
                m, v = first[name] / (1 - BETAS[0] ** t), second[name] / (1 - BETAS[1] ** t)
                added = epsilon if placement == "paper" else epsilon / (1 - BETAS[1] ** t) ** 0.5
                w[name] -= RATE * m / (v.sqrt() + added)
    return {"network": network["activation"], "placement": placement, "epsilon": epsilon, "lr": RATE, "steps": STEPS,
            "loss_before_each_step": losses, "final_params": {name: w[name].detach().tolist() for name in NAMES}}


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "gaussian_nll.json"), encoding="utf-8") as file:
    networks = json.load(file)["networks"]
for one in networks:
    wanted = {name: torch.tensor(one["weights"][name], dtype=torch.float64) for name in NAMES}
    parts = losses_of(wanted, one, torch.tensor(one["X"], dtype=torch.float64), torch.tensor(one["y"], dtype=torch.float64))
    assert abs(float(sum(parts)) - one["total"]) < 1e-12
print(json.dumps({"adam": [trajectory(one, placement, epsilon) for one in networks
                           for placement, epsilon in (("keras", 1e-3), ("paper", 1e-8))]}, indent=1))
